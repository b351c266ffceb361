//! Serialises numbers, so that work can be stored and sent: a mark of 16 bytes, counts as 64-bit integers, numbers as
//! 64-bit floats, all little-endian, and a checksum.

/// Why saved bytes cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSaved {
    /// They begin with another mark.
    #[error("the data does not begin with `{mark}`: it has another format or version")]
    Mark {
        /// The expected mark.
        mark: &'static str,
    },
    /// Their number does not match the counts they contain.
    #[error("expected {expected} bytes, found {found}: the data is truncated or has extra bytes")]
    Length {
        /// The expected number of bytes.
        expected: u64,
        /// The number of bytes found.
        found: u64,
    },
    /// They were damaged.
    #[error("the checksum does not match: the data is damaged")]
    Checksum,
}

/// A mark: a name and a version in 16 characters.
pub(crate) type Mark = &'static str;

/// Bytes before the counts.
const MARK_LENGTH: usize = 16;

/// The counts and numbers as bytes.
pub(crate) fn to_bytes<'a>(mark: Mark, counts: &[u64], numbers: impl Iterator<Item = &'a [f64]>) -> Vec<u8> {
    debug_assert_eq!(mark.len(), MARK_LENGTH);
    let mut bytes = mark.as_bytes().to_vec();
    counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    numbers.for_each(|slice| slice.iter().for_each(|v| bytes.extend(v.to_le_bytes())));
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// The counts and the numbers; `expected` gives the number of numbers from the counts.
pub(crate) fn from_bytes<'a, const N: usize>(
    mark: Mark,
    bytes: &'a [u8],
    expected: fn([u64; N]) -> Option<u64>,
) -> Result<([u64; N], impl Iterator<Item = f64> + use<'a, N>), InvalidSaved> {
    let found = bytes.len() as u64;
    let rest = bytes.strip_prefix(mark.as_bytes()).ok_or(InvalidSaved::Mark { mark })?;
    let word = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("a chunk of eight bytes"));
    let least = (MARK_LENGTH + 8 * N + 8) as u64;
    if found < least {
        return Err(InvalidSaved::Length { expected: least, found });
    }
    let mut counts = [0; N];
    counts.iter_mut().zip(rest.chunks_exact(8)).for_each(|(count, bytes)| *count = word(bytes));
    let expected = expected(counts)
        .and_then(|n| n.checked_mul(8))
        .and_then(|n| n.checked_add(least))
        .unwrap_or(u64::MAX);
    if expected != found {
        return Err(InvalidSaved::Length { expected, found });
    }
    let (content, sum) = bytes.split_at(bytes.len() - 8);
    if checksum(content) != word(sum) {
        return Err(InvalidSaved::Checksum);
    }
    let numbers = &content[MARK_LENGTH + 8 * N..];
    Ok((counts, numbers.chunks_exact(8).map(move |bytes| f64::from_bits(word(bytes)))))
}

/// FNV-1a over 64-bit words.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        let mut padded = [0; 8];
        padded[..word.len()].copy_from_slice(word);
        (hash ^ u64::from_le_bytes(padded)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
