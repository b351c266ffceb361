//! CUDA C++ printed from a tile program.
//!
//! A program becomes four functions: `embed` maps a row to its features and numbers, `start` and `term` sum over the features of a
//! pair, and `value` turns the sums into the kernel's value. Fixed text around them fills tiles and multiplies them by right-hand
//! sides. Constants of a kernel are arguments, so that one compiled source serves a whole grid of hyper-parameters.

mod descent;
mod embed;
mod layout;
mod nearest;
mod nodes;

use std::fmt::Write as _;

use mercer::real::Precision;
use mercer::tile::{Plan, Program};

pub use descent::{DescentShape, descent};
pub use layout::{Layout, Reading, Scalar, Segment, Sum, Term};
pub use nearest::nearest;
pub(crate) use nodes::is_printable;

const PRELUDE: &str = include_str!("../kernels/prelude.cuh");
const TILE: &str = include_str!("../kernels/tile.cuh");
const MMA: &str = include_str!("../kernels/mma.cuh");
const STATE: &str = include_str!("../kernels/state.cuh");
const RANKS: &str = include_str!("../kernels/ranks.cuh");
const PACK: &str = include_str!("../kernels/pack.cuh");

/// Sums of all parts of a product; the same for every kernel.
pub const REDUCE: &str = include_str!("../kernels/reduce.cuh");

/// A kernel of the printed source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Maps samples to features.
    Embed {
        /// The precision of the samples.
        samples: Precision,
    },
    /// Splits features into half-precision fragments.
    Split,
    /// Kernel values times `rhs` right-hand sides.
    Apply {
        /// Right-hand sides at a time.
        rhs: usize,
    },
    /// The same with inner products by tensor cores.
    ApplyByTensorCores {
        /// Right-hand sides at a time.
        rhs: usize,
    },
    /// Kernel values.
    Fill,
    /// Kernel rows for the solution of a quadratic problem.
    FillRows,
    /// The values of samples with themselves.
    Diagonal,
}

impl Entry {
    /// The name of the device function.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embed { .. } => "embed",
            Self::Split => "split",
            Self::Apply { .. } | Self::ApplyByTensorCores { .. } => "apply",
            Self::Fill => "fill",
            Self::FillRows => "fill_rows",
            Self::Diagonal => "diagonal",
        }
    }
}

/// The tiles of an [`Entry`]: their shape and the shared memory they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of a tile.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
    /// Bytes of shared memory.
    pub shared: usize,
}

/// A kernel printed for a device: the layout of its features, the text of its functions and the values of their constants.
#[derive(Debug, Clone)]
pub struct Source {
    /// The layout of every row.
    pub layout: Layout,
    /// The constants of the tile functions.
    pub numbers: Vec<f64>,
    /// The constants of `embed`.
    pub table: Vec<f64>,
    /// The approximate cost of a value in multiply-adds.
    pub cost: usize,
    /// Whether the expression shows that k(x, z) = k(z, x).
    pub symmetric: bool,
    functions: String,
    embed: String,
    debye: Option<String>,
    /// Operations after the sums.
    heavy: bool,
}

/// The most features in shared memory at a time.
const LARGEST_CHUNK: usize = 32;

/// The most steps of packed features: a block's columns then take 64 KiB of shared memory, and its rows fit the registers.
const MOST_PACKED_STEPS: usize = 8;

impl Source {
    /// Prints `program` by the methods of `plan`.
    #[must_use]
    pub fn new(program: &Program, plan: &Plan) -> Self {
        let layout = Layout::new(program, plan);
        let mut numbers = nodes::Numbers::default();
        let mut functions = nodes::start(&layout);
        functions += &nodes::term(&layout, &mut numbers);
        functions += &nodes::value(program, &layout, &mut numbers);
        functions += &pair(&layout);
        let (embed, table) = embed::embed(program, &layout);
        let cost = nodes::cost(program, &layout);
        let of_sums: usize = layout.sums.iter().map(|sum| layout.segments[sum.segment].width()).sum();
        let heavy = cost > of_sums + 60;
        let debye = nodes::debye_coefficients(program);
        let symmetric = program.is_symmetric();
        Self { layout, numbers: numbers.0, table, cost, symmetric, functions, embed, debye, heavy }
    }

    /// The text of one entry.
    #[must_use]
    pub fn text(&self, entry: Entry) -> String {
        let mut text = self.definitions(entry);
        text += PRELUDE;
        text += INTEGER_POWER;
        let count = self.numbers.len().max(1);
        let _ = writeln!(text, "struct Numbers {{ real at[{count}]; }};");
        match entry {
            Entry::Embed { .. } => text += &self.embed,
            Entry::Split => text += PACK,
            Entry::ApplyByTensorCores { .. } => {
                text += &self.functions;
                text += MMA;
            }
            _ => {
                text += &self.functions;
                if entry == Entry::FillRows {
                    text += STATE;
                }
                text += &TILE.replace("CHUNK_TERMS\n", &self.chunk_terms());
            }
        }
        text
    }

    fn definitions(&self, entry: Entry) -> String {
        let mut text = String::new();
        let real = if self.layout.precision == Precision::Single { "float" } else { "double" };
        let (tr, tc) = self.values_of_a_thread(entry);
        let _ = writeln!(text, "typedef {real} real;");
        if let Entry::Embed { samples } = entry {
            let sample = if samples == Precision::Single { "float" } else { "double" };
            let _ = writeln!(text, "typedef {sample} sample;");
        }
        let chunks = self.chunks();
        let (rhs, entry_name) = match entry {
            Entry::Apply { rhs } | Entry::ApplyByTensorCores { rhs } => (rhs, "APPLY"),
            Entry::Fill => (0, "FILL"),
            Entry::FillRows => (0, "FILL_ROWS"),
            Entry::Diagonal => (0, "DIAGONAL"),
            Entry::Split => (0, "SPLIT"),
            Entry::Embed { .. } => (0, "EMBED"),
        };
        // Blocks of threads that share a multiprocessor: the registers of each are bounded by it.
        let resident = match entry {
            Entry::ApplyByTensorCores { rhs: 1 } if self.steps() * self.fragment_bytes() <= 32 => 3,
            Entry::ApplyByTensorCores { .. } => 2,
            Entry::Fill | Entry::FillRows => 1,
            _ if tr * tc >= 16 && rhs > 1 => 1,
            _ => 2,
        };
        let definitions = [
            ("STATS", self.layout.sums.len()),
            ("SCALARS", self.layout.scalars.len()),
            ("NSTATS", self.layout.sums.len().max(1)),
            ("NSCALARS", self.layout.scalars.len().max(1)),
            ("WIDTH", self.layout.width()),
            ("PACKED", usize::from(self.is_packed())),
            ("K_STEPS", self.steps()),
            ("STARTED", usize::from(self.layout.is_started())),
            ("CHUNK", self.chunk().max(1)),
            ("TR", tr),
            ("TC", tc),
            ("RHS", rhs),
            ("RESIDENT", resident),
        ];
        for (name, value) in definitions {
            let _ = writeln!(text, "#define {name} {value}");
        }
        if !matches!(entry, Entry::ApplyByTensorCores { .. }) {
            let _ = writeln!(text, "#define CHUNKS {}", chunks.len());
        }
        let _ = writeln!(text, "#define ENTRY_{entry_name} 1");
        text += "#ifdef MERCER_HOST\n#define CONSTANT static const\n#else\n#define CONSTANT __device__ const\n#endif\n";
        text + self.debye.as_deref().unwrap_or("")
    }

    /// Rows and columns of the values that a thread holds in registers.
    fn values_of_a_thread(&self, entry: Entry) -> (usize, usize) {
        let rhs = if let Entry::Apply { rhs } = entry { rhs } else { 1 };
        let words = if self.layout.precision == Precision::Single { 1 } else { 2 };
        let sums = self.layout.sums.len().max(1) * words;
        let numbers = self.layout.scalars.len() * words;
        match sums {
            _ if self.heavy => (2, 2),
            1 if rhs == 1 && numbers <= 2 => (8, 8),
            1 | 2 if rhs <= 4 => (4, 4),
            3 | 4 => (4, 2),
            _ => (2, 2),
        }
    }

    /// The shape of the tiles of an entry.
    #[must_use]
    pub fn shape(&self, entry: Entry) -> Shape {
        let scalars = self.layout.scalars.len();
        if matches!(entry, Entry::Embed { .. } | Entry::Split | Entry::Diagonal) {
            return Shape { rows: 1, columns: 1, shared: 0 };
        }
        let (rhs, bytes) = match entry {
            Entry::Apply { rhs } | Entry::ApplyByTensorCores { rhs } => {
                (rhs, self.layout.precision.bytes() as usize)
            }
            _ => (0, self.layout.precision.bytes() as usize),
        };
        if matches!(entry, Entry::ApplyByTensorCores { .. }) {
            // As in mma.cuh: rows of few steps stay in registers, others take as much shared memory as columns.
            let chunks = if self.is_packed() || self.steps() <= 4 {
                2 * 16 * self.steps() * 32 * self.fragment_bytes()
            } else {
                4 * 16 * 2 * 32 * self.fragment_bytes()
            };
            let numbers = 2 * (scalars + rhs) * 128 * 4;
            return Shape { rows: 128, columns: 128, shared: (chunks + numbers).max(128 * 9 * 8) };
        }
        let (tr, tc) = self.values_of_a_thread(entry);
        let (rows, columns, chunk) = (16 * tr, 16 * tc, self.chunk().max(1));
        let copies = if self.chunks().len() > 1 { 2 } else { 1 };
        let entries = 2 * chunk * columns + 2 * (scalars + rhs) * columns + copies * chunk * rows;
        Shape { rows, columns, shared: (entries * bytes).max(rows * 17 * 8) }
    }

    /// Whether there are many operations after the sums, so that each thread holds few values at a time.
    #[must_use]
    pub fn is_heavy(&self) -> bool {
        self.heavy
    }

    /// Whether tensor cores sum the three products of high and low parts as one, which is done if it takes fewer steps, and few
    /// enough for a block.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        let width = self.layout.width();
        let packed = (3 * width).div_ceil(16);
        packed < 3 * width.div_ceil(16) && packed <= MOST_PACKED_STEPS
    }

    /// The number of steps of 16 features on tensor cores.
    #[must_use]
    pub fn steps(&self) -> usize {
        let width = if self.is_packed() { 3 * self.layout.width() } else { self.layout.width() };
        width.div_ceil(16).max(1)
    }

    /// Bytes of the part of 8 rows and 16 features that one thread reads.
    #[must_use]
    pub fn fragment_bytes(&self) -> usize {
        if self.is_packed() { 8 } else { 16 }
    }

    /// Features in shared memory at a time.
    fn chunk(&self) -> usize {
        let width = self.layout.width();
        if width <= LARGEST_CHUNK { width } else { LARGEST_CHUNK / 2 }
    }

    /// Segment, first feature and number of features of every chunk.
    fn chunks(&self) -> Vec<(usize, usize, usize)> {
        let mut chunks = Vec::new();
        for (place, segment) in self.layout.segments.iter().enumerate() {
            let end = segment.start + segment.width();
            let mut first = segment.start;
            while first < end {
                let count = self.chunk().min(end - first);
                chunks.push((place, first, count));
                first += count;
            }
        }
        if chunks.is_empty() {
            chunks.push((0, 0, 0));
        }
        chunks
    }

    /// The functions that describe each chunk, with one comparison for a run of equal chunks.
    fn chunk_terms(&self) -> String {
        let chunks = self.chunks();
        let mut runs: Vec<(usize, usize, usize, usize, usize)> = Vec::new();
        for (place, &(segment, first, count)) in chunks.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if (run.0, run.2) == (segment, count) => run.4 = place + 1,
                _ => runs.push((segment, first, count, place, place + 1)),
            }
        }
        let mut bodies = [String::new(), String::new(), String::new()];
        for &(segment, first, count, from, to) in &runs {
            let _ = writeln!(bodies[0], "    if (chunk < {to}) return {first} + (chunk - {from}) * {count};");
            let _ = writeln!(bodies[1], "    if (chunk < {to}) return {count};");
            if self.layout.segments.is_empty() {
                continue;
            }
            let _ = writeln!(
                bodies[2],
                "    if (chunk >= {from} && chunk < {to}) terms<{segment}, {count}>(xf, zf, tx, ty, s, p);"
            );
        }
        format!(
            "FUNCTION int chunk_first(int chunk)\n{{\n{}    return 0;\n}}\n\
             FUNCTION int chunk_count(int chunk)\n{{\n{}    return 0;\n}}\n\
             FUNCTION void chunk_terms(int chunk, const real *xf, const real *zf, int tx, int ty, real (&s)[TR][TC][NSTATS], const Numbers &p)\n{{\n{}}}\n",
            bodies[0], bodies[1], bodies[2]
        )
    }
}

/// Powers by squaring, unrolled by the compiler.
const INTEGER_POWER: &str = "\
template <int N> FUNCTION real integer_power(real a)\n{\n    real result = (real)1;\n#pragma unroll\n\
\x20   for (int n = N; n > 0; n /= 2) {\n        if (n % 2) result *= a;\n        a *= a;\n    }\n    return result;\n}\n";

/// `pair`: the value of one pair of rows, without tiles.
fn pair(layout: &Layout) -> String {
    let mut text = "FUNCTION real pair(const Side &x, long long i, const Side &z, long long j, const Numbers &p)\n{\n\
                    \x20   real s[NSTATS], xs[NSCALARS], zs[NSCALARS];\n\
                    \x20   for (int n = 0; n < SCALARS; ++n) xs[n] = x.scalars[n * x.padded + i], zs[n] = z.scalars[n * z.padded + j];\n\
                    \x20   const real *a = x.features + i / BLOCK * (BLOCK * (long long)WIDTH) + i % BLOCK;\n\
                    \x20   const real *b = z.features + j / BLOCK * (BLOCK * (long long)WIDTH) + j % BLOCK;\n\
                    \x20   start(s, xs, zs);\n"
        .to_owned();
    for (place, segment) in layout.segments.iter().enumerate() {
        let (first, end) = (segment.start, segment.start + segment.width());
        let _ = writeln!(
            text,
            "    for (long long k = {first}; k < {end}; ++k) term<{place}>(s, a[k * BLOCK], b[k * BLOCK], p);"
        );
    }
    text + "    return value(s, xs, zs, p);\n}\n"
}
