//! `mercer gram`.

use std::path::Path;
use std::time::Instant;

use mercer::data::{self, AnySamples, ScaleMethod, Scaling};
use mercer::gram::{GramError, Part, Resident, Value, Wanted, kernel_to_distance};
use mercer::kernel::Kernel;
use mercer::linalg::zeroed;
use mercer::real::{Precision, Real};
use mercer::session::Session;
use mercer::{memory, pool};
use serde::Serialize;

use crate::args::GramArguments;
use crate::failure::Failure;
use crate::output;
use crate::progress::{self, Progress};
use crate::settings;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    kernel: String,
    rows: usize,
    columns: usize,
    distance: bool,
    scaling: &'static str,
    seconds: f64,
    output: String,
}

/// Computes the matrix and writes it.
pub fn run(arguments: &GramArguments) -> Result<(), Failure> {
    let inputs = [Some(&arguments.data), arguments.other.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(|path| &**path).collect();
    let format = format(&arguments.output)?;
    output::check_output(&arguments.output, &inputs)?;
    progress::listen();
    let kernel = settings::kernel(&arguments.kernel, None)?;
    if !kernel.tunables()?.is_empty() {
        return Err(Failure::usage("the kernel has an unknown value `?`; `gram` needs numbers or `auto`"));
    }
    let (names, rows, columns) = read(arguments)?;
    let kernel = settings::kernel(&arguments.kernel, Some(&names))?;
    let (scaling, _) = Scaling::of(arguments.input.scale.unwrap_or(ScaleMethod::None), &rows)?;
    let rows = scaling.apply(rows)?;
    let columns = columns.map(|columns| scaling.apply(columns)).transpose()?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(arguments.memory, &watch)?;
    let kernel = kernel.resolve_auto(&session.scales(&rows))?;
    kernel.check_columns(rows.ncols())?;

    let shape = (rows.nrows(), columns.as_ref().unwrap_or(&rows).nrows());
    let needed = bytes(shape, arguments.input.dtype, session.memory())?;
    let job = Job { kernel: &kernel, rows: &rows, columns: columns.as_ref(), distance: arguments.distance };
    let clock = Instant::now();
    let seconds = pool::with(arguments.common.threads(), || match arguments.input.dtype {
        Precision::Single => {
            let entries = job.single(&session)?;
            progress::check_device()?;
            let seconds = clock.elapsed().as_secs_f64();
            write((&arguments.output, format), shape, &entries)?;
            Ok::<_, Failure>(seconds)
        }
        Precision::Double => {
            let entries = job.double(&session)?;
            progress::check_device()?;
            let seconds = clock.elapsed().as_secs_f64();
            write((&arguments.output, format), shape, &entries)?;
            Ok(seconds)
        }
    })?;
    watch.finish();
    let document = Document {
        kernel: kernel.to_string(),
        rows: shape.0,
        columns: shape.1,
        distance: arguments.distance,
        scaling: scaling.name(),
        seconds,
        output: arguments.output.display().to_string(),
    };
    let what = if document.distance { "distances" } else { "kernel matrix" };
    let mut lines = vec![
        ("kernel", document.kernel.clone()),
        ("scaling", document.scaling.to_owned()),
        ("wrote", format!("{}: {} × {} {what}, {seconds:.2} s", document.output, shape.0, shape.1)),
    ];
    if arguments.common.verbose {
        lines.push(("memory", memory::human(needed)));
    }
    output::report(&arguments.common, &document, &lines)
}

/// The bytes of the matrix, if the memory budget allows them.
fn bytes((rows, columns): (usize, usize), dtype: Precision, budget: u64) -> Result<u64, Failure> {
    let needed = (rows as u64).saturating_mul(columns as u64).saturating_mul(dtype.bytes());
    if needed <= budget {
        return Ok(needed);
    }
    let (needed, budget) = (memory::human(needed), memory::human(budget));
    Err(Failure::work(format!(
        "a matrix of {rows} × {columns} takes {needed}, more than the memory budget of {budget}"
    )))
}

type Samples = AnySamples<'static>;

/// The names of the columns, the rows, and those of the other file.
fn read(arguments: &GramArguments) -> Result<(Vec<String>, Samples, Option<Samples>), Failure> {
    let (dataset, schema) = data::read(&arguments.data, &arguments.input.read_options())?;
    dataset.notes.iter().for_each(|note| output::note(&arguments.common, note));
    let names = dataset.feature_names;
    let Some(other) = &arguments.other else { return Ok((names, dataset.features, None)) };
    let chunk = data::chunks(other, &schema, usize::MAX)?.next();
    let columns = chunk.transpose()?.map(|columns| columns.features);
    Ok((names, dataset.features, columns))
}

/// The format of a matrix file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Npy,
    Csv,
}

/// The format that the ending of a file names.
fn format(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    // Devices and pipes have no ending.
    let is_special = path.exists() && !path.is_file();
    match ending.as_deref() {
        Some("csv") => Ok(Format::Csv),
        Some("npy") => Ok(Format::Npy),
        _ if is_special => Ok(Format::Npy),
        _ => {
            let path = path.display();
            let message = format!("{path}: a matrix is written to a file whose ending must be .npy or .csv");
            Err(Failure::usage(message))
        }
    }
}

fn write<T: Real>(
    (path, format): (&Path, Format),
    shape: (usize, usize),
    entries: &[T],
) -> Result<(), Failure> {
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    if format == Format::Npy {
        return Ok(data::write_npy(path, shape.0, shape.1, entries)?);
    }
    Ok(data::write_atomically(path, |file| {
        for row in entries.chunks_exact(shape.1.max(1)) {
            let row: Vec<String> = row.iter().map(ToString::to_string).collect();
            writeln!(file, "{}", row.join(","))?;
        }
        Ok(())
    })?)
}

struct Job<'a> {
    kernel: &'a Kernel,
    rows: &'a Samples,
    columns: Option<&'a Samples>,
    distance: bool,
}

/// The rows, and the columns if they are other samples.
type Loaded = (Box<dyn Resident>, Option<Box<dyn Resident>>);

impl Job<'_> {
    fn double(&self, session: &Session<'_>) -> Result<Vec<f64>, Failure> {
        let (rows, columns) = self.load(session)?;
        let mut out: Vec<f64> = self.values(&*rows, columns.as_deref(), session)?;
        if self.distance {
            let gram = rows.gram(self.kernel, Wanted::Exact)?;
            let of_rows = gram.diagonal();
            match &columns {
                None => kernel_to_distance(&mut out, &of_rows, &of_rows),
                Some(columns) => {
                    let gram = columns.gram(self.kernel, Wanted::Exact)?;
                    kernel_to_distance(&mut out, &of_rows, &gram.diagonal());
                }
            }
        }
        Ok(out)
    }

    fn single(&self, session: &Session<'_>) -> Result<Vec<f32>, Failure> {
        if self.distance {
            // The difference k(x,x) − 2k(x,z) + k(z,z) cancels, so it is computed in double precision.
            return Ok(self.double(session)?.into_iter().map(|d| d as f32).collect());
        }
        let (rows, columns) = self.load(session)?;
        self.values(&*rows, columns.as_deref(), session)
    }

    /// The kernel matrix in the precision of `T`.
    fn values<T: Value>(
        &self,
        rows: &dyn Resident,
        columns: Option<&dyn Resident>,
        session: &Session<'_>,
    ) -> Result<Vec<T>, Failure> {
        let mut out = zeroed(rows.nrows() * columns.unwrap_or(rows).nrows());
        let values = T::erase_mut(&mut out);
        match columns {
            None => rows.gram(self.kernel, Wanted::Exact)?.fill(Part::Full, values, session)?,
            Some(columns) => rows.cross(self.kernel, columns)?.fill(Part::Full, values, session)?,
        }
        Ok(out)
    }

    fn load(&self, session: &Session<'_>) -> Result<Loaded, GramError> {
        Ok((session.load(self.rows)?, self.columns.map(|columns| session.load(columns)).transpose()?))
    }
}
