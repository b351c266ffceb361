//! Kernel matrices on a device.

use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaFunction;
use mercer::data::Matrix as Dense;
use mercer::gram::{
    BoxProblem, Descent, Gram, KeepRows, KernelValues, LinearOperator, LowRankFactor, Part, Penalty, RowSums,
    StoreAs, Stored, TileMut, ValuesMut, ValuesRef,
};
use mercer::linalg::SymmetricMatrix;
use mercer::real::{Precision, Real};
use mercer::watch::{Stopped, Unwatched, Watch};

use crate::dense::{self, DeviceMatrix};
use crate::descent;
use crate::device::{Bytes, Device, Ended, Grid, argument, arguments, arguments_of, check};
use crate::error::CudaError;
use crate::low_rank::DeviceLowRank;
use crate::printed::Printed;
use crate::row_sums::CudaRowSums;
use crate::rows::{Features, Role, Rows, address};
use crate::source::{Entry, Source};

/// The kernel matrix of samples with themselves or with others, computed on each use.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    printed: Printed,
    /// `numbers` of the source in the precision of the tiles, as bytes.
    numbers: Vec<u8>,
    x_rows: Arc<Rows>,
    x: Arc<Features>,
    /// The columns, if they are other samples.
    z: Option<Arc<Features>>,
    /// The factor of half-precision fragments; `None` without tensor cores.
    fragment_scale: Option<f32>,
    diagonal: OnceLock<Vec<f64>>,
}

/// The number of features from which tensor cores are faster than plain arithmetic.
const TENSOR_WIDTH: usize = 2;

/// The most columns per block of threads: with more blocks than the device runs at once, no part of it is idle.
const LONGEST_SPLIT: usize = 1 << 17;

/// Bytes of kernel values computed before each copy to the host.
const BAND: usize = 1 << 28;

impl Matrix {
    /// `largest` is the largest feature if the kernel is a function of one product.
    pub fn new(
        source: Source,
        x_rows: Arc<Rows>,
        z_rows: Option<Arc<Rows>>,
        largest: f64,
    ) -> Result<Self, CudaError> {
        let numbers = match source.layout.precision {
            Precision::Single => source.numbers.iter().flat_map(|v| (*v as f32).to_ne_bytes()).collect(),
            Precision::Double => source.numbers.iter().flat_map(|v| v.to_ne_bytes()).collect(),
        };
        let device = Arc::clone(&x_rows.device);
        let _work = device.lock();
        let fragment_scale = fragment_scale(&source, largest);
        let printed = Printed::new(source, &device)?;
        let x = Arc::new(x_rows.features(&printed, None)?);
        let z = z_rows.map(|rows| rows.features(&printed, None)).transpose()?.map(Arc::new);
        device.wait()?;
        Ok(Self {
            inner: Arc::new(Inner {
                printed,
                numbers,
                x_rows,
                x,
                z,
                fragment_scale,
                diagonal: OnceLock::new(),
            }),
        })
    }

    pub fn device(&self) -> &Device {
        &self.inner.x_rows.device
    }

    /// The same, for values that outlive the matrix.
    pub fn shared_device(&self) -> &Arc<Device> {
        &self.inner.x_rows.device
    }

    fn columns(&self) -> &Arc<Features> {
        self.inner.z.as_ref().unwrap_or(&self.inner.x)
    }

    /// The features of the rows.
    pub fn features(&self) -> &Features {
        &self.inner.x
    }

    pub fn printed(&self) -> &Printed {
        &self.inner.printed
    }

    /// The features of some rows of a square matrix. The caller holds the device's lock.
    pub fn chosen(&self, rows: &[usize]) -> Result<Features, CudaError> {
        self.inner.x_rows.features(&self.inner.printed, Some(rows))
    }

    /// out[i, o] = Σⱼ k(xᵢ, zⱼ)·rhs[j, o]. The caller holds the device's lock.
    pub fn multiply(
        &self,
        x: &Features,
        z: &Features,
        rhs: &Dense<f64>,
        out: &mut Dense<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Ended> {
        let outputs = rhs.ncols();
        let mut first = 0;
        while first < outputs {
            let count = if outputs - first == 1 { 1 } else { 4 };
            self.multiply_some(x, z, (rhs, first, count), out, watch)?;
            first += count;
        }
        Ok(())
    }

    /// out[c, o] = Σᵣ rhs[r, o]·k(rowᵣ, column_c). The caller holds the device's lock.
    pub fn multiply_columns(
        &self,
        columns: &Features,
        rows: &Features,
        rhs: &Dense<f64>,
        out: &mut Dense<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Ended> {
        if self.inner.printed.source.symmetric {
            return self.multiply(columns, rows, rhs, out, watch);
        }
        // Useful kernels are not of this kind; values are multiplied on the host.
        let width = columns.count;
        out.entries_mut().fill(0.0);
        self.values(rows, columns, |_| width, watch, &mut |first, band| {
            let mut row = vec![0f64; width];
            for r in 0..band.len() / width {
                ValuesMut::from(&mut row).copy_from(band.slice(r * width..(r + 1) * width));
                for (c, k) in row.iter().enumerate() {
                    let sums = out.row_mut(c).iter_mut().zip(rhs.row(first + r));
                    sums.for_each(|(sum, v)| *sum += k * v);
                }
            }
        })
    }

    /// The right-hand sides from `first` on, at most `count` of them.
    fn multiply_some(
        &self,
        x: &Features,
        z: &Features,
        (rhs, first, count): (&Dense<f64>, usize, usize),
        out: &mut Dense<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Ended> {
        let (device, source) = (self.device(), &self.inner.printed.source);
        let entry = self.product_entry(count);
        if let Some(scale) = self.inner.fragment_scale {
            x.split(device, &self.inner.printed, scale, Role::Rows)?;
            z.split(device, &self.inner.printed, scale, Role::Columns)?;
        }
        let shape = source.shape(entry);
        let function = self.inner.printed.function(device, entry)?;
        let (unit, sides) = match source.layout.precision {
            Precision::Single => right_hand_sides::<f32>(device, (rhs, first, count), z.padded)?,
            Precision::Double => right_hand_sides::<f64>(device, (rhs, first, count), z.padded)?,
        };
        let blocks = x.padded / shape.rows;
        let per_split = per_split(blocks, z.padded, shape.columns, device.processors);
        let splits = z.padded.div_ceil(per_split);
        let entries = count * x.padded;
        let parts = device.allocate(splits * entries * 8)?;
        let (x_side, z_side) = (x.side(device, Role::Rows), z.side(device, Role::Columns));
        let (rhs_at, out_at, per) = (address(device, &sides), address(device, &parts), per_split as i64);
        let unscale = self.inner.fragment_scale.map_or(1.0f32, |scale| 1.0 / (scale * scale));
        device.in_pieces(blocks, watch, |from, blocks| {
            let from = from as i64;
            let arguments = [
                argument(&x_side),
                argument(&z_side),
                argument(&rhs_at),
                argument(&out_at),
                self.numbers(),
                argument(&from),
                argument(&per),
                argument(&unscale),
            ];
            let used = if matches!(entry, Entry::ApplyByTensorCores { .. }) { 8 } else { 7 };
            let grid = Grid { blocks: (blocks, splits), threads: 256, shared: shape.shared };
            // SAFETY: the arguments of `apply`; blocks and splits are within the padded rows and columns.
            unsafe { device.launch(&function, grid, &arguments[..used]) }
        })?;
        let total = add_splits(device, parts, entries, splits)?;
        let mut found = vec![0f64; entries];
        device.download(&total, &mut found)?;
        for i in 0..x.count {
            let row = out.row_mut(i);
            for o in 0..count.min(row.len() - first) {
                row[first + o] = found[o * x.padded + i] * unit;
            }
        }
        Ok(())
    }

    fn product_entry(&self, rhs: usize) -> Entry {
        if self.inner.fragment_scale.is_some() {
            Entry::ApplyByTensorCores { rhs }
        } else {
            Entry::Apply { rhs }
        }
    }

    /// The constants of the source, as an argument of its functions.
    pub fn numbers(&self) -> *const c_void {
        static NONE: [u64; 1] = [0];
        let numbers = &self.inner.numbers;
        if numbers.is_empty() { NONE.as_ptr().cast() } else { numbers.as_ptr().cast() }
    }

    /// Calls `take(first row, values)` for bands of rows of the values of `x` with the first `columns(end of the band)` of `z`, each
    /// row of `z.count` entries. The caller holds the device's lock.
    pub fn values(
        &self,
        x: &Features,
        z: &Features,
        columns: impl Fn(usize) -> usize,
        watch: &dyn Watch,
        take: &mut dyn FnMut(usize, ValuesRef<'_>),
    ) -> Result<(), Ended> {
        let (device, source) = (self.device(), &self.inner.printed.source);
        let (shape, width) = (source.shape(Entry::Fill), z.count);
        if x.count == 0 || width == 0 {
            return Ok(());
        }
        let function = self.inner.printed.function(device, Entry::Fill)?;
        let single = source.layout.precision == Precision::Single;
        let bytes = if single { 4 } else { 8 };
        let height = (BAND / (width * bytes) / shape.rows * shape.rows).clamp(shape.rows, x.padded);
        let buffer = device.allocate(height.min(x.count) * width * bytes)?;
        let (mut singles, mut doubles) = (Vec::<f32>::new(), Vec::<f64>::new());
        let mut first = 0;
        while first < x.count {
            check(watch)?;
            let rows = height.min(x.count - first);
            let out = address(device, &buffer);
            self.launch_fill(
                &function,
                (x, z),
                out,
                (first, first + rows),
                columns(first + rows).min(width),
            )?;
            if single {
                singles.resize(rows * width, 0.0);
                device.download(&buffer, &mut singles)?;
                take(first, ValuesRef::F32(&singles));
            } else {
                doubles.resize(rows * width, 0.0);
                device.download(&buffer, &mut doubles)?;
                take(first, ValuesRef::F64(&doubles));
            }
            first += rows;
        }
        Ok(())
    }

    /// The values on and below the diagonal of a square matrix in this precision, row after row, in device memory; the others are not
    /// written everywhere. The caller holds the device's lock.
    fn lower(&self, precision: Precision, watch: &dyn Watch) -> Result<Bytes, Ended> {
        let (device, x) = (self.device(), &self.inner.x);
        let (shape, order) = (self.inner.printed.source.shape(Entry::Fill), x.count);
        let bytes = precision.bytes() as usize;
        let values = device.allocate(order * order * bytes)?;
        let height = 32 * shape.rows;
        for first in (0..order).step_by(height) {
            check(watch)?;
            let end = order.min(first + height);
            let out = address(device, &values) + (first * order * bytes) as u64;
            self.fill_as(precision, (x, x), out, (first, end), end)?;
            // So that the next check follows the work, not its launch.
            device.wait()?;
        }
        Ok(values)
    }

    /// The rows `chosen` in full, in this precision, one after the other, at `out`. The caller holds the device's lock.
    pub fn fill_rows(&self, chosen: &[usize], out: u64, precision: Precision) -> Result<(), CudaError> {
        let rows = self.chosen(chosen)?;
        self.fill_as(precision, (&rows, &self.inner.x), out, (0, rows.count), self.inner.x.count)?;
        // The features of the rows must live until then.
        self.device().wait()
    }

    /// As [`launch_fill`](Self::launch_fill), in a precision that need not be that of the tiles.
    fn fill_as(
        &self,
        precision: Precision,
        (x, z): (&Features, &Features),
        out: u64,
        (first, end): (usize, usize),
        columns: usize,
    ) -> Result<(), CudaError> {
        let (device, own) = (self.device(), self.inner.printed.source.layout.precision);
        let function = self.inner.printed.function(device, Entry::Fill)?;
        if precision == own {
            return self.launch_fill(&function, (x, z), out, (first, end), columns);
        }
        let count = (end - first) * z.count;
        let band = device.allocate(count * own.bytes() as usize)?;
        let from = address(device, &band);
        self.launch_fill(&function, (x, z), from, (first, end), columns)?;
        let name = if precision == Precision::Double { "to_double" } else { "to_single" };
        let number = count as i64;
        let arguments = arguments![from, out, number];
        // SAFETY: the arguments of the function, which writes `count` numbers.
        unsafe { dense::launch(device, precision, name, Grid::over(count), &arguments) }
    }

    /// Writes the values of the rows from `first` to `end` and at least the first `columns` columns to `out`.
    fn launch_fill(
        &self,
        function: &CudaFunction,
        (x, z): (&Features, &Features),
        out: u64,
        (first, end): (usize, usize),
        columns: usize,
    ) -> Result<(), CudaError> {
        let (device, shape) = (self.device(), self.inner.printed.source.shape(Entry::Fill));
        let blocks = (end - first).div_ceil(shape.rows);
        let per = per_split(blocks, z.padded, shape.columns, device.processors);
        let (x_side, z_side) = (x.side(device, Role::Rows), z.side(device, Role::Columns));
        let width = z.count as i64;
        let numbers: [i64; 5] = [(first / shape.rows) as i64, per as i64, end as i64, width, width];
        let mut arguments = vec![argument(&x_side), argument(&z_side), argument(&out), self.numbers()];
        arguments.extend(arguments_of(&numbers));
        let grid = Grid { blocks: (blocks, columns.div_ceil(per)), threads: 256, shared: shape.shared };
        // SAFETY: the arguments of `fill`; it writes rows below `end` and columns below `width` alone.
        unsafe { device.launch(function, grid, &arguments) }
    }
}

/// The factor that brings features into the range of half precision, where tensor cores can be used.
fn fragment_scale(source: &Source, largest: f64) -> Option<f32> {
    let width = source.layout.width();
    if !source.layout.is_one_product() || source.is_heavy() || width < TENSOR_WIDTH || !largest.is_finite() {
        return None;
    }
    if source.layout.is_started() {
        // Exponents need no scaling; half precision holds numbers up to 65504.
        return (largest < 3e4).then_some(1.0);
    }
    if largest == 0.0 {
        return Some(1.0);
    }
    // The largest feature is scaled to between 64 and 128; a power of two changes no digit.
    let exponent = 6.0 - largest.log2().floor();
    (exponent.abs() < 60.0).then(|| 2f32.powi(exponent as i32))
}

/// Columns of each part of a product, a multiple of whole blocks: at most [`LONGEST_SPLIT`], fewer if there are few
/// rows.
pub(crate) fn per_split(blocks: usize, columns: usize, tile: usize, processors: usize) -> usize {
    let wanted = (processors * 6).div_ceil(blocks.max(1)).max(1);
    let unit = tile.max(128);
    let most = columns.div_ceil(wanted).div_ceil(unit) * unit;
    most.clamp(unit, LONGEST_SPLIT)
}

/// Right-hand sides in the precision of the tiles, divided by a power of two that keeps them in range; zeros for
/// padding.
fn right_hand_sides<T: Real + crate::device::Plain>(
    device: &Device,
    (rhs, first, count): (&Dense<f64>, usize, usize),
    padded: usize,
) -> Result<(f64, Bytes), CudaError> {
    let here = first..rhs.ncols().min(first + count);
    let largest = (0..rhs.nrows())
        .flat_map(|j| rhs.row(j)[here.clone()].iter())
        .fold(0.0f64, |largest, v| largest.max(v.abs()));
    let unit = if largest > 0.0 && largest.is_finite() { 2f64.powi(largest.log2() as i32) } else { 1.0 };
    let mut values = vec![T::default(); count * padded];
    for j in 0..rhs.nrows() {
        for (o, v) in rhs.row(j)[here.clone()].iter().enumerate() {
            values[o * padded + j] = T::from_f64(v / unit);
        }
    }
    Ok((unit, device.upload(&values)?))
}

/// The sums of all parts, in their order.
fn add_splits(device: &Device, parts: Bytes, entries: usize, splits: usize) -> Result<Bytes, CudaError> {
    if splits == 1 {
        return Ok(parts);
    }
    let total = device.allocate(entries * 8)?;
    let function = device.add_splits()?;
    let (from, to, count, splits) =
        (address(device, &parts), address(device, &total), entries as i64, splits as i32);
    let arguments = arguments![from, to, count, splits];
    // SAFETY: the arguments of `add_splits`; it reads `splits · entries` numbers and writes `entries`.
    unsafe { device.launch(&function, Grid::over(entries), &arguments)? };
    Ok(total)
}

impl LinearOperator for Matrix {
    fn nrows(&self) -> usize {
        self.inner.x.count
    }

    fn ncols(&self) -> usize {
        self.columns().count
    }

    fn apply(&self, out: &mut Dense<f64>, rhs: &Dense<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        assert!(rhs.nrows() == self.ncols() && out.nrows() == self.nrows() && out.ncols() == rhs.ncols());
        if self.ncols() == 0 {
            out.entries_mut().fill(0.0);
            return Ok(());
        }
        let _work = self.device().lock();
        self.device().record_fault(self.multiply(&self.inner.x, self.columns(), rhs, out, watch))
    }
}

impl KernelValues for Matrix {
    fn fill(&self, part: Part, mut out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        let (rows, width) = (self.nrows(), self.ncols());
        assert_eq!(out.len(), rows * width, "a {rows} × {width} matrix");
        let columns = |end: usize| if part == Part::Lower { end } else { width };
        let _work = self.device().lock();
        let (x, z) = (&self.inner.x, self.columns());
        self.device().record_fault(self.values(x, z, columns, watch, &mut |first, band| {
            out.slice(first * width..first * width + band.len()).copy_from(band);
        }))
    }
}

/// Writes the values of a band to the places of a tile.
pub(crate) fn scatter(out: &mut TileMut<'_>, rows: usize, columns: usize, first: usize, band: ValuesRef<'_>) {
    let (row_places, segments) = out.places(rows, columns);
    let stride = out.stride;
    let height = band.len() / columns.max(1);
    for (r, place) in row_places[first..first + height].iter().enumerate() {
        for segment in &segments {
            let (from, to) = (r * columns + segment.from.start, place * stride + segment.at);
            let count = segment.from.len();
            out.values.slice(to..to + count).copy_from(band.slice(from..from + count));
        }
    }
}

impl Gram for Matrix {
    fn precision(&self) -> Precision {
        self.inner.printed.source.layout.precision
    }

    fn cost(&self) -> usize {
        self.inner.printed.source.cost
    }

    /// NaN everywhere if the device fails.
    fn diagonal(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self.inner.diagonal.get_or_init(|| {
            let _work = self.device().lock();
            self.diagonal_now().unwrap_or_else(|error| {
                self.device().set_fault(error);
                vec![f64::NAN; self.nrows()]
            })
        }))
    }

    /// NaN everywhere if the device fails.
    fn block(&self, rows: &[usize], columns: &[usize], mut out: TileMut<'_>) {
        let _ = out.places(rows.len(), columns.len());
        let _work = self.device().lock();
        let ended = (|| {
            let (x, z) = (self.chosen(rows)?, self.chosen(columns)?);
            self.values(&x, &z, |_| columns.len(), &Unwatched, &mut |first, band| {
                scatter(&mut out, rows.len(), columns.len(), first, band);
            })
        })();
        if self.device().record_fault(ended).is_err() {
            let nothing = vec![f64::NAN; rows.len() * columns.len()];
            scatter(&mut out, rows.len(), columns.len(), 0, ValuesRef::F64(&nothing));
        }
    }

    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Dense<f64>,
        out: &mut Dense<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        assert!(rhs.nrows() == rows.len() && out.nrows() == columns.len() && out.ncols() == rhs.ncols());
        if rows.is_empty() || columns.is_empty() {
            out.entries_mut().fill(0.0);
            return Ok(());
        }
        let _work = self.device().lock();
        self.device().record_fault((|| {
            let (columns, rows) = (self.chosen(columns)?, self.chosen(rows)?);
            self.multiply_columns(&columns, &rows, rhs, out, watch)
        })())
    }

    fn descend(
        &self,
        problem: &BoxProblem<'_>,
        beta: &mut [f64],
        f: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<Option<Descent>, Stopped> {
        if !self.inner.printed.source.symmetric {
            return Ok(None);
        }
        let _work = self.device().lock();
        self.device().record_fault(descent::descend(self, problem, beta, f, watch)).map(Some)
    }

    /// No rows are cached: the device recomputes them faster than it reads them.
    fn row_sums<'a>(&'a self, columns: &[usize], _: KeepRows) -> Box<dyn RowSums + 'a> {
        Box::new(CudaRowSums::new(self, columns))
    }

    fn regularised(
        &self,
        penalty: Penalty<'_>,
        precision: Precision,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        let device = self.shared_device();
        let _work = device.lock();
        let stored = || -> Result<DeviceMatrix, Ended> {
            let values = self.lower(precision, watch)?;
            let mut matrix = DeviceMatrix::new(device, self.nrows(), precision, values);
            matrix.regularise(penalty)?;
            Ok(matrix)
        };
        Ok(Box::new(device.record_fault(stored())?))
    }

    /// Only if there is no room for double precision, which is as fast.
    fn prefers_single(&self) -> bool {
        let needed = (self.nrows() as u64).saturating_mul(self.nrows() as u64).saturating_mul(8);
        needed > self.device().room()
    }

    fn low_rank(&self, rank: usize) -> Result<Box<dyn LowRankFactor>, Stopped> {
        let device = self.device();
        let _work = device.lock();
        Ok(Box::new(device.record_fault(DeviceLowRank::new(self, rank).map_err(Ended::Failed))?))
    }

    /// The same matrix: the device computes values faster than it reads them.
    fn store(&self, form: StoreAs, _: &dyn Watch) -> Result<Stored, Stopped> {
        Ok(match form {
            StoreAs::F64 | StoreAs::F32 => Stored::Gram(Box::new(self.clone())),
            StoreAs::I16 => {
                let rounding = StoreAs::F32.rounding(self.nrows(), 1.0);
                Stored::Products { operator: Box::new(self.clone()), rounding }
            }
        })
    }
}

impl Matrix {
    /// The caller holds the device's lock.
    fn diagonal_now(&self) -> Result<Vec<f64>, CudaError> {
        let (device, x) = (self.device(), &self.inner.x);
        let mut found = vec![0f64; x.count];
        if x.count == 0 {
            return Ok(found);
        }
        let out = device.allocate(x.count * 8)?;
        let function = self.inner.printed.function(device, Entry::Diagonal)?;
        let (side, to, rows) = (x.side(device, Role::Rows), address(device, &out), x.count as i64);
        let arguments = [argument(&side), argument(&to), self.numbers(), argument(&rows)];
        // SAFETY: the arguments of `diagonal`; it writes `rows` numbers.
        unsafe { device.launch(&function, Grid::over(x.count), &arguments)? };
        device.download(&out, &mut found)?;
        Ok(found)
    }
}
