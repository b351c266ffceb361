use mercer::kernel::Kernel;
use mercer::kernel::check::{Dim, Domain, form::*, verify};
#[test]
fn dbg() {
    let space = Space { dim: Dim::Any, domain: Domain::Ball(1.0) };
    let k: Kernel = "asin(<x,z>)".parse().unwrap();
    println!("{}", verify::range::is_defined(k.expr(), &space));
    let f = Form::call(Fun::Asin, vec![Form::var()], &space).unwrap();
    println!("{:?}", verify::series::nonnegative(&f));
    let n = Form::of(&"<x,z>".parse::<Kernel>().unwrap().expr(), &space).unwrap();
    println!("{:?}", verify::range::Range::of(&n, &space));
}
