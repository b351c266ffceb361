/// A number as `%a` prints it.
pub fn hexadecimal(text: &str) -> f64 {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let sign = if negative { -1.0 } else { 1.0 };
    match digits {
        "inf" => return sign * f64::INFINITY,
        "nan" => return f64::NAN,
        _ => {}
    }
    let (mantissa, exponent) = digits.strip_prefix("0x").and_then(|rest| rest.split_once('p')).expect("%a");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let value = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap() as f64;
    let exponent: i32 = exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32;
    // In two steps, so that neither factor underflows.
    sign * value * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}
