//! Filling a tile: statistics, then operations, a block of rows at a time.

use std::ops::Range;

use crate::kernel::lower::{Kind, Side};

use super::coordinate::{self, sparse_row};
use super::pack::{Operand, Pack, Panels};
use super::plan::{Method, Plan};
use super::program::{Node, Program};
use super::simd::{Element, Simd, Vectorized};
use super::sparse::FeatureIndex;
use super::statistic::{Block, Norms, ROWS, block};
use super::strip::Strips;

/// A program and its plan, with a register for every node.
#[derive(Debug)]
pub(crate) struct Filler {
    program: Program,
    plan: Plan,
    /// The register of each node.
    place: Vec<usize>,
    registers: usize,
}

/// Working memory of one thread.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    registers: Vec<T>,
    indices: Vec<FeatureIndex>,
    sums: Vec<f64>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self { registers: Vec::new(), indices: Vec::new(), sums: Vec::new() }
    }
}

/// A rectangle of the kernel matrix of `x` (rows) and `z` (columns).
#[derive(Debug, Clone)]
pub(crate) struct Rectangle<'a, T: Element> {
    /// The samples of the rows.
    pub x: &'a Operand<T>,
    /// Which of them; starts at a multiple of [`Element::PANEL`].
    pub rows: Range<usize>,
    /// The samples of the columns.
    pub z: &'a Operand<T>,
    /// Which of them; starts at a multiple of [`Element::PANEL`].
    pub cols: Range<usize>,
}

/// Kernel values of a few rows with all columns of a rectangle.
#[derive(Debug)]
pub(crate) struct ValueBlock<'a, T> {
    /// The rows.
    pub rows: Range<usize>,
    /// Their values, row after row; room for [`ROWS`] rows whether or not there are as many.
    pub values: &'a [T],
    /// Entries from one row to the next.
    pub stride: usize,
}

impl Filler {
    /// Assigns registers: a register is free again after the last use of its node.
    pub fn new(program: Program, plan: Plan) -> Self {
        let nodes = &program.nodes;
        let mut last_use: Vec<usize> = (0..nodes.len()).collect();
        for (i, node) in nodes.iter().enumerate() {
            node.operands().for_each(|a| last_use[a] = i);
        }
        let (mut free, mut registers): (Vec<usize>, usize) = (Vec::new(), 0);
        let mut place = vec![0; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            let mut ended: Vec<usize> =
                node.operands().filter(|&a| last_use[a] == i).map(|a| place[a]).collect();
            ended.dedup();
            free.extend(ended);
            place[i] = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers - 1
            });
        }
        Self { program, plan, place, registers }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Computes the rectangle a block of rows at a time and hands each block to `sink` while it is in cache.
    pub fn fill<T: Element>(
        &self,
        rectangle: &Rectangle<'_, T>,
        scratch: &mut Scratch<T>,
        sink: &mut dyn FnMut(&ValueBlock<'_, T>),
    ) {
        self.fill_outputs(rectangle, scratch, &mut |_, block| sink(block));
    }

    /// As [`fill`](Self::fill) for a program with several outputs: `sink` receives each block with the number of its output.
    pub fn fill_outputs<T: Element>(
        &self,
        rectangle: &Rectangle<'_, T>,
        scratch: &mut Scratch<T>,
        sink: &mut dyn FnMut(usize, &ValueBlock<'_, T>),
    ) {
        if rectangle.rows.is_empty() || rectangle.cols.is_empty() {
            return;
        }
        assert!(
            rectangle.rows.start.is_multiple_of(T::PANEL) && rectangle.cols.start.is_multiple_of(T::PANEL)
        );
        self.index_columns(rectangle, scratch);
        T::vectorize(FillWork { filler: self, rectangle, scratch, sink });
    }

    fn index_columns<T: Element>(&self, rectangle: &Rectangle<'_, T>, scratch: &mut Scratch<T>) {
        scratch.indices.resize_with(self.plan.routes.len(), FeatureIndex::default);
        for (route, index) in self.plan.routes.iter().zip(&mut scratch.indices) {
            if let Pack::Sparse(z) = rectangle.z.pack(route.features)
                && route.method != Method::Coordinate
            {
                index.build(route.method, z, rectangle.cols.clone());
            }
        }
    }
}

struct FillWork<'a, 'b, T: Element> {
    filler: &'a Filler,
    rectangle: &'a Rectangle<'b, T>,
    scratch: &'a mut Scratch<T>,
    sink: &'a mut dyn FnMut(usize, &ValueBlock<'_, T>),
}

impl<T: Element> Vectorized<T> for FillWork<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) {
        let Self { filler, rectangle, scratch, sink } = self;
        let (rows, cols) = (rectangle.rows.clone(), rectangle.cols.clone());
        let padded = cols.len().next_multiple_of(T::PANEL);
        let Scratch { registers, indices, sums } = scratch;
        registers.resize(filler.registers * ROWS * padded, T::default());
        let mut strips = Strips { registers, len: ROWS * padded };
        let nodes = &filler.program.nodes;
        for first in rows.clone().step_by(ROWS) {
            let here = first..rows.end.min(first + ROWS);
            for (i, &node) in nodes.iter().enumerate() {
                let out = filler.place[i];
                match node {
                    Node::Pair(p) => {
                        let route = filler.plan.routes[p];
                        let kind = &filler.program.statistics[p].kind;
                        let strip = strips.register(out);
                        match (rectangle.x.pack(route.features), rectangle.z.pack(route.features)) {
                            (Pack::Dense(x), Pack::Dense(z)) => {
                                dense_statistic(s, (route.method, kind), x, first, z, cols.clone(), strip);
                            }
                            (Pack::Sparse(x), Pack::Sparse(z)) => {
                                sums.resize(cols.len(), 0.0);
                                for (r, row) in here.clone().enumerate() {
                                    match kind {
                                        Kind::Coordinate(program) => {
                                            sparse_row(program, (x, row), z, cols.clone(), sums);
                                        }
                                        _ => indices[p].row(route.method, x, row, sums),
                                    }
                                    for (o, v) in strip[r * padded..].iter_mut().zip(sums.iter()) {
                                        *o = T::from_f64(*v);
                                    }
                                }
                            }
                            _ => unreachable!("both operands are packed by one plan"),
                        }
                    }
                    Node::Point(..) | Node::SameRow => {
                        rectangle.rows_or_columns(node, here.clone(), strips.register(out));
                    }
                    _ => strips.compute(s, node, out, &filler.place),
                }
                // Passed on immediately: the register is free again after the last use of its node.
                for (number, _) in filler.program.outputs.iter().enumerate().filter(|(_, node)| **node == i) {
                    let values = strips.register(out);
                    sink(number, &ValueBlock { rows: here.clone(), values, stride: padded });
                }
            }
        }
    }
}

impl<T: Element> Rectangle<'_, T> {
    /// A node that depends on one side alone, or on whether both sides are the same row, into a strip of padded rows.
    fn rows_or_columns(&self, node: Node, rows: Range<usize>, strip: &mut [T]) {
        let padded = self.cols.len().next_multiple_of(T::PANEL);
        for (row, strip) in rows.zip(strip.chunks_exact_mut(padded)) {
            match node {
                Node::Point(what, Side::X, group) => {
                    strip.fill(T::from_f64(self.x.point(what, group, row)));
                }
                Node::Point(what, Side::Z, group) => {
                    for (o, col) in strip.iter_mut().zip(self.cols.clone()) {
                        *o = T::from_f64(self.z.point(what, group, col));
                    }
                }
                _ => {
                    strip.fill(T::default());
                    if let Some(place) = self.cols.clone().position(|col| self.x.is_row_of(row, self.z, col))
                    {
                        strip[place] = T::from_f64(1.0);
                    }
                }
            }
        }
    }
}

/// A statistic of rows `first..first + ROWS` with `cols`, into a strip of padded rows.
#[inline(always)]
fn dense_statistic<S: Simd>(
    s: S,
    (method, kind): (Method, &Kind),
    x: &Panels<S::T>,
    first: usize,
    z: &Panels<S::T>,
    cols: Range<usize>,
    strip: &mut [S::T],
) {
    let panel = S::T::PANEL;
    let panels = cols.len().div_ceil(panel);
    let work = Block {
        x: x.panel(first / panel),
        lane: first % panel,
        width: x.width(),
        z: z.panels(cols.start / panel, panels),
        panels,
        non_zeros: x.non_zeros().map(|rows| (rows, first)),
    };
    if let Kind::Coordinate(program) = kind {
        return coordinate::block(s, program, &work, strip);
    }
    let norms = Norms { x: &x.squared_norms()[first..], z: &z.squared_norms()[cols.start..] };
    block(s, method, &work, norms, strip);
}
