//! The map from rows of samples to features and numbers, as C++: computed in double precision and rounded at the end.

use std::fmt::Write as _;

use mercer::tile::{Embedding, Group, PointStatistic, Program};

use super::layout::{Layout, Scalar, Segment};

/// Values that the printed map reads from a table, so that the text depends only on the form of a kernel.
#[derive(Debug, Default)]
struct Table(Vec<f64>);

impl Table {
    /// Adds a list and returns the expression of its j-th entry.
    fn list(&mut self, values: impl IntoIterator<Item = f64>) -> String {
        let first = self.0.len();
        self.0.extend(values);
        format!("table[{first} + j]")
    }

    fn number(&mut self, value: f64) -> String {
        self.0.push(value);
        format!("table[{}]", self.0.len() - 1)
    }
}

/// The kernel `embed`, which maps rows of samples (`sample` is their type) and their table.
///
/// Rows from `count` on repeat the last one, so that kernel values of padding are those of samples.
pub(super) fn embed(program: &Program, layout: &Layout) -> (String, Vec<f64>) {
    let mut table = Table::default();
    let mut text = format!(
        "extern \"C\" __global__ void embed(const sample *samples, const int *index, long long count, long long padded, \
         const double *table, real *features, real *scalars)\n{{\n\
         \x20   long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n\
         \x20   if (i >= padded) return;\n\
         \x20   long long from = i < count ? i : count - 1;\n\
         \x20   const sample *row = samples + (index ? (long long)index[from] : from) * {}LL;\n\
         \x20   real *to = features + (i / BLOCK) * (BLOCK * {}LL) + i % BLOCK;\n",
        program.ncols(),
        layout.width()
    );
    for (place, segment) in layout.segments.iter().enumerate() {
        text += &of_segment(place, segment, layout, &mut table);
    }
    for (place, scalar) in layout.scalars.iter().enumerate() {
        if let Scalar::Point(what, group) = *scalar {
            text += &of_point(place, what, &program.groups()[group], &mut table);
        }
    }
    text += "}\n";
    (text, table.0)
}

/// The expression of the column at position j of a group.
fn column(group: &Group, table: &mut Table) -> String {
    let first = group.columns.first().copied().unwrap_or(0);
    if group.columns.iter().enumerate().all(|(j, c)| *c == first + j) {
        format!("(double)row[{first} + j]")
    } else {
        format!("(double)row[(long long){}]", table.list(group.columns.iter().map(|c| *c as f64)))
    }
}

fn of_segment(place: usize, segment: &Segment, layout: &Layout, table: &mut Table) -> String {
    let group = &segment.group;
    let (column, columns, start) = (column(group, table), group.columns.len(), segment.start);
    let centred = segment.centre.as_ref().map(|centre| table.list(centre.iter().copied()));
    let value = centred.map_or_else(|| column.clone(), |centre| format!("{column} - {centre}"));
    let scale = table.number(segment.scale);
    let mut text = format!("    {{\n        double square = 0, scale = {scale};\n");
    if group.embedding == Embedding::Unit {
        text += &norm(&column, columns);
    }
    let _ = writeln!(text, "        for (int j = 0; j < {columns}; ++j) {{\n            double v = {value};");
    let put = |at: &str, value: &str| {
        format!(
            "            {{ real f = (real)(({value}) * scale); to[({start}LL + {at}) * BLOCK] = f; square += (double)f * f; }}\n"
        )
    };
    text += &match &group.embedding {
        Embedding::Plain => put("j", "v"),
        Embedding::Scaled(factors) => put("j", &format!("v * {}", table.list(factors.iter().copied()))),
        Embedding::Circle { periods, lengths } => {
            let (period, length) = (table.list(periods.iter().copied()), table.list(lengths.iter().copied()));
            let turns = format!(
                "            double turns = v / {period};\n\
                 \x20           if (!(fabs(turns) < 4503599627370496.0)) turns = fmod(v, {period}) / {period};\n\
                 \x20           turns -= round(turns);\n\
                 \x20           double half = 3.14159265358979323846 * turns, sine = sin(half), cosine = cos(half);\n"
            );
            turns
                + &put("2 * j", &format!("-sine * sine / {length}"))
                + &put("2 * j + 1", &format!("sine * cosine / {length}"))
        }
        Embedding::Unit => put("j", "norm == 0 ? 0 : v / norm"),
    };
    text += "        }\n";
    for (at, scalar) in layout.scalars.iter().enumerate() {
        let number = match *scalar {
            Scalar::SquaredNorm(of) if of == place => "square".to_owned(),
            Scalar::Exponent { segment: of, shift } if of == place => {
                format!("{} - 0.5 * square", table.number(shift))
            }
            _ => continue,
        };
        let _ = writeln!(text, "        scalars[{at} * padded + i] = (real)({number});");
    }
    text + "    }\n"
}

fn of_point(place: usize, what: PointStatistic, group: &Group, table: &mut Table) -> String {
    let (column, columns) = (column(group, table), group.columns.len());
    let number = match what {
        PointStatistic::Norm => "norm",
        PointStatistic::NonZero => "norm != 0 ? 1.0 : 0.0",
    };
    let norm = norm(&column, columns);
    format!("    {{\n{norm}        scalars[{place} * padded + i] = (real)({number});\n    }}\n")
}

/// The Euclidean norm of the row. Numbers whose squares are too large or too small are scaled first.
fn norm(column: &str, columns: usize) -> String {
    let each = format!("for (int j = 0; j < {columns}; ++j) {{ double v = {column};");
    format!(
        "        double norm = 0, most = 0;\n        {each} norm += v * v; most = fmax(most, fabs(v)); }}\n\
         \x20       if (norm >= 2.2250738585072014e-308 && norm <= 1.7976931348623157e308) norm = sqrt(norm);\n\
         \x20       else if (most > 0) {{ norm = 0; {each} norm += (v / most) * (v / most); }} norm = most * sqrt(norm); }}\n\
         \x20       else norm = 0;\n"
    )
}
