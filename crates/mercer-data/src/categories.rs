//! The rows of one column of categories, a code for each.

use std::collections::HashMap;

/// The code of a missing category.
pub(super) const NO_CATEGORY: u32 = u32::MAX;

/// A column of categories: a code for each row.
#[derive(Default)]
pub(super) struct Categories {
    known: HashMap<String, u32>,
    /// Text of each code.
    texts: Vec<String>,
    codes: Vec<u32>,
}

impl Categories {
    /// A column without rows, with known categories.
    pub fn known(texts: &[String]) -> Self {
        let known = texts.iter().cloned().zip(0..).collect();
        Self { known, texts: texts.to_vec(), codes: Vec::new() }
    }

    /// Text of each category.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The code of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The code of `text`, if it is known.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.known.get(text).copied()
    }

    /// Adds a category and returns its code.
    pub fn add(&mut self, text: String) -> u32 {
        let code = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.known.insert(text, code);
        code
    }

    /// Adds a row.
    pub fn push(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// Removes all but the first `nrows` rows.
    pub fn truncate(&mut self, nrows: usize) {
        self.codes.truncate(nrows);
    }

    /// Orders the categories by their text, so that the features do not depend on the order of the rows, and removes
    /// those that were only in dropped rows.
    pub fn settle(&mut self) {
        let mut used = vec![false; self.texts.len()];
        for &code in self.codes.iter().filter(|code| **code != NO_CATEGORY) {
            used[code as usize] = true;
        }
        let mut order: Vec<usize> = (0..self.texts.len()).filter(|&code| used[code]).collect();
        order.sort_by(|&a, &b| self.texts[a].cmp(&self.texts[b]));
        let mut rank = vec![NO_CATEGORY; used.len()];
        for (new, &old) in (0..).zip(&order) {
            rank[old] = new;
        }
        self.texts = order.iter().map(|&old| std::mem::take(&mut self.texts[old])).collect();
        for code in self.codes.iter_mut().filter(|code| **code != NO_CATEGORY) {
            *code = rank[*code as usize];
        }
    }

    /// Share of the rows that have a category in each.
    pub fn shares(&self) -> Vec<f64> {
        let mut counts = vec![0u64; self.texts.len()];
        for &code in self.codes.iter().filter(|code| **code != NO_CATEGORY) {
            counts[code as usize] += 1;
        }
        let total: u64 = counts.iter().sum();
        counts.iter().map(|&count| count as f64 / total.max(1) as f64).collect()
    }
}
