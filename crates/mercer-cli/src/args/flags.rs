//! Which methods the flags of `fit` apply to.

use mercer::model::Method;
use mercer::model::Method::{
    Gp, Knn, Lms, Logistic, NuSvc, NuSvr, OneClass, Perceptron, Ridge, Smoother, Svc, Svr,
};

/// Flags that do not apply to every method, without their dashes.
const FLAGS: [(&str, &[Method]); 29] = [
    ("kernel", &[Ridge, Lms, Smoother, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("features", &[Ridge, Lms, Perceptron]),
    ("lambda", &[Ridge, Logistic]),
    ("C", &[Logistic, Svc, Svr, NuSvr]),
    ("nu", &[NuSvc, NuSvr, OneClass]),
    ("no-tune", &[Ridge, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("epsilon", &[Svr]),
    ("bias", &[Ridge, Lms]),
    ("solver", &[Ridge, Lms, Logistic]),
    ("step", &[Lms]),
    ("epochs", &[Lms, Perceptron, Logistic]),
    ("tol", &[Ridge, Lms, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("approx", &[Ridge, Logistic, Svc, Gp]),
    ("checkpoint", &[Ridge]),
    ("k", &[Knn]),
    ("weights", &[Knn]),
    ("metric", &[Knn]),
    ("classify", &[Knn, Gp]),
    ("assume-psd", &[Ridge, Lms, Perceptron, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("class-weight", &[Logistic, Svc]),
    ("sample-weight", &[Ridge, Logistic, Svc, NuSvc, Svr, NuSvr, OneClass, Gp]),
    ("probability", &[Svc, NuSvc, Svr, NuSvr, OneClass]),
    ("last", &[Perceptron]),
    ("vote", &[Perceptron]),
    ("budget", &[Perceptron]),
    ("multiclass", &[Perceptron, Svc, NuSvc]),
    ("noise", &[Gp]),
    ("no-variance", &[Gp]),
    ("restarts", &[Gp]),
];

/// The methods that a flag applies to; none where that is all of them.
pub fn methods_of(flag: &str) -> Option<&'static [Method]> {
    FLAGS.iter().find(|(known, _)| *known == flag).map(|(_, methods)| *methods)
}

/// Whether a flag applies to a method.
pub fn applies(flag: &str, method: Method) -> bool {
    methods_of(flag).is_none_or(|methods| methods.contains(&method))
}
