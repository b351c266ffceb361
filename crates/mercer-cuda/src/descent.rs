//! Box-constrained quadratic problems, solved on the device in rounds of `kernels/descent.cuh`.

use std::ops::Range;
use std::time::{Duration, Instant};

use cudarc::driver::CudaFunction;
use mercer::gram::{BoxProblem, Descent};
use mercer::watch::Watch;

use crate::device::{Bytes, Device, Ended, Grid, Plain, argument, arguments_of, check};
use crate::error::CudaError;
use crate::matrix::{Matrix, per_split};
use crate::rows::{BLOCK, Features, Role, address};
use crate::source::{DescentShape, Entry, descent};

/// `Problem` of the source.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Problem {
    linear: u64,
    lower: u64,
    upper: u64,
    beta: u64,
    f: u64,
    kink: f64,
    tolerance: f64,
    most_steps: i64,
    count: i32,
    first: i32,
}

/// `State` of the source.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct State {
    least: [f64; 2],
    most: [f64; 2],
    best: f64,
    steps: i64,
    evaluations: i64,
    done: i32,
    rounds: i32,
    best_round: i32,
    stalled: i32,
    broken: i32,
    kept: i32,
    base: i32,
    fresh: i32,
    changed: i32,
    chosen: [i32; 4],
    unused: i32,
}

impl Plain for State {}

impl State {
    const START: Self = Self {
        least: [f64::INFINITY; 2],
        most: [f64::NEG_INFINITY; 2],
        best: f64::INFINITY,
        steps: 0,
        evaluations: 0,
        done: 0,
        rounds: 0,
        best_round: 0,
        stalled: 0,
        broken: 0,
        kept: 0,
        base: 0,
        fresh: 0,
        changed: 0,
        chosen: [0; 4],
        unused: 0,
    };
}

/// The time for rounds between checks of the watch.
const LOOK: Duration = Duration::from_millis(60);

/// The most rounds launched before the host checks whether the solver has ended.
const AHEAD: u32 = 8;

/// Parts of the changed rows with separate sums.
const SPLITS: usize = 16;

/// The most features of a row that one launch copies.
const COPIERS: usize = 1024;

/// Solves `problem` over a square matrix from `beta` with `f` = Kβ. The caller holds the device's lock.
pub(crate) fn descend(
    matrix: &Matrix,
    problem: &BoxProblem<'_>,
    beta: &mut [f64],
    f: &mut [f64],
    watch: &dyn Watch,
) -> Result<Descent, Ended> {
    let n = problem.rows.len();
    let lengths = [problem.linear, problem.lower, problem.upper, &*beta, &*f].map(<[f64]>::len);
    assert!(lengths == [n; 5] && problem.first <= n, "one number for each variable");
    if n == 0 || i32::try_from(n).is_err() {
        return Ok(Descent::default());
    }
    let solver = Solver::new(matrix, problem, beta, f)?;
    let state = solver.run(watch)?;
    let device = matrix.device();
    device.download(&solver.beta, beta)?;
    device.download(&solver.f, f)?;
    Ok(Descent {
        steps: state.steps as u64,
        rounds: state.rounds as u64,
        evaluations: state.evaluations as u64,
    })
}

/// A problem in the memory of a device, and its functions.
struct Solver<'a> {
    matrix: &'a Matrix,
    shape: DescentShape,
    functions: Functions,
    problem: Problem,
    /// Features of all variables; `None` if they are those of the matrix.
    own: Option<Features>,
    /// Features of the rows to compute.
    picked: Features,
    beta: Bytes,
    f: Bytes,
    /// The other parts of the problem, of which only the addresses are needed.
    _constant: [Bytes; 3],
    state: Bytes,
    keys: Bytes,
    lists: Bytes,
    sets: Bytes,
    seen: Bytes,
    slots: Bytes,
    fresh: Bytes,
    /// Kernel rows over all variables, up to `capacity` of them.
    rows: Bytes,
    capacity: usize,
    tile: Bytes,
    changed_rows: Bytes,
    changes: Bytes,
    parts: Bytes,
    ends: Bytes,
}

struct Functions {
    rank: CudaFunction,
    choose: CudaFunction,
    seat: CudaFunction,
    pick: CudaFunction,
    fill_rows: CudaFunction,
    gather: CudaFunction,
    exchange: CudaFunction,
    sum_rows: CudaFunction,
    advance: CudaFunction,
    judge: CudaFunction,
}

impl Functions {
    fn new(matrix: &Matrix, shape: DescentShape) -> Result<Self, CudaError> {
        let device = matrix.device();
        let text = descent(matrix.printed().source.layout.precision, shape);
        let function = |name: &str| device.function(&text, name, 0);
        Ok(Self {
            rank: function("rank")?,
            choose: function("choose")?,
            seat: function("seat")?,
            pick: function("pick")?,
            fill_rows: matrix.printed().function(device, Entry::FillRows)?,
            gather: function("gather")?,
            exchange: function("exchange")?,
            sum_rows: function("sum_rows")?,
            advance: function("advance")?,
            judge: function("judge")?,
        })
    }
}

/// Threads of a block of `advance` and `judge`.
const ADVANCERS: usize = 256;

impl<'a> Solver<'a> {
    fn new(matrix: &'a Matrix, problem: &BoxProblem<'_>, beta: &[f64], f: &[f64]) -> Result<Self, CudaError> {
        let (device, source) = (matrix.device(), &matrix.printed().source);
        let n = problem.rows.len();
        let lengths = [problem.linear.len(), problem.lower.len(), problem.upper.len(), beta.len(), f.len()];
        assert!(lengths == [n; 5] && problem.first <= n, "numbers of {n} variables");
        let groups: Vec<Range<usize>> =
            [0..problem.first, problem.first..n].into_iter().filter(|group| !group.is_empty()).collect();
        let shape = DescentShape::of(n, groups.len());
        let is_whole =
            n == matrix.features().count && problem.rows.iter().enumerate().all(|(v, &row)| v == row);
        let own = if is_whole { None } else { Some(matrix.chosen(problem.rows)?) };
        let padded = own.as_ref().unwrap_or(matrix.features()).padded;
        let bytes = source.layout.precision.bytes() as usize;
        let constant =
            [device.upload(problem.linear)?, device.upload(problem.lower)?, device.upload(problem.upper)?];
        let (beta, f) = (device.upload(beta)?, device.upload(f)?);
        let ints = |count: usize| device.allocate(count * 4);
        let (keys, lists, sets) = (ints(2 * n)?, ints(4 * shape.set / 2)?, ints(2 * shape.set)?);
        let (seen, slots) = (device.upload(&vec![0i32; n])?, device.upload(&vec![-1i32; n])?);
        let (fresh, changed_rows) = (ints(shape.set)?, ints(shape.set)?);
        let picked = Features::room(device, source, shape.set.next_multiple_of(BLOCK))?;
        let tile = device.allocate(shape.set * shape.set * bytes)?;
        let changes = device.allocate(shape.set * 8)?;
        let parts = device.allocate(SPLITS * padded * 8)?;
        let ends = device.allocate(n.div_ceil(ADVANCERS) * 4 * 8)?;
        // At least a working set, at most every row.
        let most = (device.memory()?.0 / 2).min(problem.cache) as usize / (padded * bytes);
        let capacity = most.max(shape.set).min(n);
        let rows = device.allocate(capacity * padded * bytes)?;
        let at = |bytes: &Bytes| address(device, bytes);
        let on_device = Problem {
            linear: at(&constant[0]),
            lower: at(&constant[1]),
            upper: at(&constant[2]),
            beta: at(&beta),
            f: at(&f),
            kink: problem.kink,
            tolerance: problem.tolerance,
            most_steps: i64::try_from(problem.steps).unwrap_or(i64::MAX),
            count: n as i32,
            first: groups[0].len() as i32,
        };
        Ok(Self {
            matrix,
            shape,
            functions: Functions::new(matrix, shape)?,
            problem: on_device,
            own,
            picked,
            beta,
            f,
            _constant: constant,
            state: device.upload(&[State::START])?,
            keys,
            lists,
            sets,
            seen,
            slots,
            fresh,
            rows,
            capacity,
            tile,
            changed_rows,
            changes,
            parts,
            ends,
        })
    }

    fn device(&self) -> &Device {
        self.matrix.device()
    }

    fn columns(&self) -> &Features {
        self.own.as_ref().unwrap_or(self.matrix.features())
    }

    /// Rounds until the solver ends.
    fn run(&self, watch: &dyn Watch) -> Result<State, Ended> {
        self.advance(0)?;
        let mut ahead = 1;
        loop {
            check(watch)?;
            let begin = Instant::now();
            for _ in 0..ahead {
                self.round()?;
            }
            let mut state = [State::START];
            self.device().download(&self.state, &mut state)?;
            if state[0].done != 0 {
                return Ok(state[0]);
            }
            let each = begin.elapsed() / ahead;
            ahead = (LOOK.as_nanos() / each.as_nanos().max(1)).clamp(1, u128::from(AHEAD)) as u32;
        }
    }

    fn round(&self) -> Result<(), CudaError> {
        let (device, shape, functions) = (self.device(), self.shape, &self.functions);
        let source = &self.matrix.printed().source;
        let at = |bytes: &Bytes| address(device, bytes);
        let n = self.problem.count as usize;
        let (state, keys, lists, sets) = (at(&self.state), at(&self.keys), at(&self.lists), at(&self.sets));
        let (slots, fresh, rows) = (at(&self.slots), at(&self.fresh), at(&self.rows));
        let (tile, changed, changes) = (at(&self.tile), at(&self.changed_rows), at(&self.changes));
        let columns = self.columns();
        let padded = columns.padded as u64;
        let block = |blocks: usize, threads: usize| Grid { blocks: (blocks, 1), threads, shared: 0 };

        self.launch(&functions.rank, Grid::over(n), true, &[state, keys])?;
        let choosers = shape.choosers;
        self.launch(&functions.choose, block(2 * shape.groups, choosers), true, &[state, keys, lists])?;
        let (seen, capacity) = (at(&self.seen), self.capacity as u64);
        let arguments = [state, lists, sets, seen, slots, fresh, capacity];
        self.launch(&functions.seat, block(1, choosers), true, &arguments)?;

        let ([features, scalars], [to, to_scalars]) =
            (columns.addresses(device), self.picked.addresses(device));
        let (width, numbers) = (source.layout.width(), source.layout.scalars.len());
        let grid = Grid {
            blocks: (shape.set / BLOCK, (width + numbers).clamp(1, COPIERS)),
            threads: BLOCK,
            shared: 0,
        };
        let arguments =
            [state, fresh, features, scalars, padded, to, to_scalars, width as u64, numbers as u64];
        self.launch(&functions.pick, grid, false, &arguments)?;
        self.fill_rows(rows)?;
        self.launch(
            &functions.gather,
            block(shape.set, 256),
            false,
            &[state, sets, slots, rows, padded, tile],
        )?;
        let arguments = [state, sets, slots, tile, changed, changes];
        self.launch(&functions.exchange, block(1, shape.solvers), true, &arguments)?;
        let pack = 16 / source.layout.precision.bytes() as usize;
        let grid = Grid { blocks: (columns.padded.div_ceil(256 * pack), SPLITS), threads: 256, shared: 0 };
        let arguments = [state, changed, changes, rows, padded, at(&self.parts)];
        self.launch(&functions.sum_rows, grid, false, &arguments)?;
        self.advance(SPLITS)
    }

    /// Adds the sums of `splits` parts to f and decides whether to continue.
    fn advance(&self, splits: usize) -> Result<(), CudaError> {
        let (device, n) = (self.device(), self.problem.count as usize);
        let [state, parts, ends] = [&self.state, &self.parts, &self.ends].map(|bytes| address(device, bytes));
        let blocks = n.div_ceil(ADVANCERS);
        let grid = Grid { blocks: (blocks, 1), threads: ADVANCERS, shared: 0 };
        let arguments = [state, parts, self.columns().padded as u64, splits as u64, ends];
        self.launch(&self.functions.advance, grid, true, &arguments)?;
        let grid = Grid { blocks: (1, 1), threads: ADVANCERS, shared: 0 };
        self.launch(&self.functions.judge, grid, true, &[state, ends, blocks as u64])
    }

    /// Computes the kernel rows that a round adds.
    fn fill_rows(&self, rows: u64) -> Result<(), CudaError> {
        let (device, source) = (self.device(), &self.matrix.printed().source);
        let (shape, columns) = (source.shape(Entry::FillRows), self.columns());
        let blocks = self.shape.set / shape.rows;
        let per = per_split(blocks, columns.padded, shape.columns, device.processors);
        let sides = [self.picked.side(device, Role::Rows), columns.side(device, Role::Columns)];
        let (state, per_split) = (address(device, &self.state), per as i64);
        let arguments = [
            argument(&sides[0]),
            argument(&sides[1]),
            argument(&rows),
            self.matrix.numbers(),
            argument(&state),
            argument(&per_split),
        ];
        let grid =
            Grid { blocks: (blocks, columns.padded.div_ceil(per)), threads: 256, shared: shape.shared };
        // SAFETY: the arguments of `fill_rows`; it reads the picked rows and writes at most as many from `base` on, which `seat`
        // keeps within the capacity.
        unsafe { device.launch(&self.functions.fill_rows, grid, &arguments) }
    }

    /// Launches a function whose arguments are the problem, where `with_problem`, and addresses or whole numbers.
    fn launch(
        &self,
        function: &CudaFunction,
        grid: Grid,
        with_problem: bool,
        values: &[u64],
    ) -> Result<(), CudaError> {
        let problem = with_problem.then(|| argument(&self.problem));
        let arguments: Vec<_> = problem.into_iter().chain(arguments_of(values)).collect();
        // SAFETY: the callers pass what each function takes, and memory of the sizes that `new` allocates. Whole numbers are
        // little-endian, so that a function reads the lower half of one where it takes 32 bits.
        unsafe { self.device().launch(function, grid, &arguments) }
    }
}
