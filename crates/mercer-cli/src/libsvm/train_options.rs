//! The options of svm-train.

use mercer::model::Method;

use super::Refusal;

/// The usage text of svm-train.
pub const USAGE: &str = "\
Usage: svm-train [options] training_set_file [model_file]
options:
-s svm_type : set type of SVM (default 0)
	0 -- C-SVC		(multi-class classification)
	1 -- nu-SVC		(multi-class classification)
	2 -- one-class SVM
	3 -- epsilon-SVR	(regression)
	4 -- nu-SVR		(regression)
-t kernel_type : set type of kernel function (default 2)
	0 -- linear: u'*v
	1 -- polynomial: (gamma*u'*v + coef0)^degree
	2 -- radial basis function: exp(-gamma*|u-v|^2)
	3 -- sigmoid: tanh(gamma*u'*v + coef0)
	4 -- precomputed kernel (kernel values in training_set_file)
-d degree : set degree in kernel function (default 3)
-g gamma : set gamma in kernel function (default 1/num_features)
-r coef0 : set coef0 in kernel function (default 0)
-c cost : set the parameter C of C-SVC, epsilon-SVR, and nu-SVR (default 1)
-n nu : set the parameter nu of nu-SVC, one-class SVM, and nu-SVR (default 0.5)
-p epsilon : set the epsilon in loss function of epsilon-SVR (default 0.1)
-m cachesize : set cache memory size in MB (default 100)
-e epsilon : set tolerance of termination criterion (default 0.001)
-h shrinking : whether to use the shrinking heuristics, 0 or 1 (default 1)
-b probability_estimates : whether to train a model for probability estimates, 0 or 1 (default 0)
-wi weight : set the parameter C of class i to weight*C, for C-SVC (default 1)
-v n: n-fold cross validation mode
-q : quiet mode (no outputs)
";

/// The kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelType {
    /// `-t 0`.
    Linear,
    /// `-t 1`.
    Polynomial,
    /// `-t 2`.
    Rbf,
    /// `-t 3`.
    Sigmoid,
    /// `-t 4`.
    Precomputed,
}

/// The options, with defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainOptions {
    /// `-s`: one of the five machines.
    pub svm_type: Method,
    pub kernel_type: KernelType,
    pub degree: u32,
    /// 0 for 1 over the number of features.
    pub gamma: f64,
    pub coef0: f64,
    pub c: f64,
    pub nu: f64,
    pub epsilon: f64,
    /// In megabytes.
    pub cache: f64,
    pub tolerance: f64,
    pub shrinking: bool,
    pub probability: bool,
    /// Factors of C, by label.
    pub weights: Vec<(i32, f64)>,
    /// Folds of cross-validation.
    pub folds: Option<usize>,
    pub quiet: bool,
    pub data: String,
    pub model: String,
}

impl TrainOptions {
    /// Whether the machine is a classifier.
    pub fn classifies(&self) -> bool {
        matches!(self.svm_type, Method::Svc | Method::NuSvc)
    }

    /// Parses the arguments after the program's name.
    pub fn parse(arguments: &[String]) -> Result<Self, Refusal> {
        let help = |message: String| Refusal::usage(message, USAGE);
        let mut options = Self {
            svm_type: Method::Svc,
            kernel_type: KernelType::Rbf,
            degree: 3,
            gamma: 0.0,
            coef0: 0.0,
            c: 1.0,
            nu: 0.5,
            epsilon: 0.1,
            cache: 100.0,
            tolerance: 1e-3,
            shrinking: true,
            probability: false,
            weights: Vec::new(),
            folds: None,
            quiet: false,
            data: String::new(),
            model: String::new(),
        };
        let mut rest = arguments.iter();
        let mut files: Vec<&String> = Vec::new();
        while let Some(argument) = rest.next() {
            let Some(option) = argument.strip_prefix('-').filter(|_| files.is_empty()) else {
                files.push(argument);
                continue;
            };
            if option.starts_with('q') {
                options.quiet = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| help(String::new()))?;
            options.set(option, value).map_err(help)?;
        }
        let Some(data) = files.first() else { return Err(help(String::new())) };
        options.data = (*data).clone();
        let own_name = || format!("{}.model", data.rsplit('/').next().unwrap_or(data));
        options.model = files.get(1).map_or_else(own_name, |model| (*model).clone());
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let wrong = || format!("-{option} {value}: it is not a number");
        let number = || value.parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(wrong);
        let flag = |name: &str| match value {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("ERROR: {name} != 0 and {name} != 1")),
        };
        match option.chars().next() {
            Some('s') => {
                self.svm_type = match value {
                    "0" => Method::Svc,
                    "1" => Method::NuSvc,
                    "2" => Method::OneClass,
                    "3" => Method::Svr,
                    "4" => Method::NuSvr,
                    _ => return Err("ERROR: unknown svm type".into()),
                }
            }
            Some('t') => {
                self.kernel_type = match value {
                    "0" => KernelType::Linear,
                    "1" => KernelType::Polynomial,
                    "2" => KernelType::Rbf,
                    "3" => KernelType::Sigmoid,
                    "4" => KernelType::Precomputed,
                    _ => return Err("ERROR: unknown kernel type".into()),
                }
            }
            Some('d') => {
                self.degree =
                    value.parse().map_err(|_| "ERROR: degree of polynomial kernel < 0".to_owned())?;
            }
            Some('g') => self.gamma = number()?,
            Some('r') => self.coef0 = number()?,
            Some('c') => self.c = number()?,
            Some('n') => self.nu = number()?,
            Some('p') => self.epsilon = number()?,
            Some('m') => self.cache = number()?,
            Some('e') => self.tolerance = number()?,
            Some('h') => self.shrinking = flag("shrinking")?,
            Some('b') => self.probability = flag("probability")?,
            Some('v') => {
                let folds = value.parse().ok().filter(|folds: &usize| *folds >= 2);
                self.folds = Some(folds.ok_or("n-fold cross validation: n must >= 2")?);
            }
            Some('w') => {
                let label =
                    option[1..].parse().map_err(|_| format!("-{option}: a label is a whole number"))?;
                self.weights.push((label, number()?));
            }
            other => return Err(format!("Unknown option: -{}", other.unwrap_or(' '))),
        }
        Ok(())
    }

    /// LIBSVM's checks, in its words.
    fn check(&self) -> Result<(), Refusal> {
        use Method::{NuSvc, NuSvr, OneClass, Svc, Svr};
        let has = |types: &[Method]| types.contains(&self.svm_type);
        let shaped = !matches!(self.kernel_type, KernelType::Linear | KernelType::Precomputed);
        let wrong = [
            (shaped && self.gamma < 0.0, "gamma < 0"),
            (self.cache <= 0.0, "cache_size <= 0"),
            (self.tolerance <= 0.0, "eps <= 0"),
            (has(&[Svc, Svr, NuSvr]) && self.c <= 0.0, "C <= 0"),
            (has(&[NuSvc, OneClass, NuSvr]) && !(self.nu > 0.0 && self.nu <= 1.0), "nu <= 0 or nu > 1"),
            (has(&[Svr]) && self.epsilon < 0.0, "p < 0"),
        ];
        match wrong.iter().find(|(wrong, _)| *wrong) {
            Some((_, message)) => Err(Refusal::new(format!("ERROR: {message}"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TrainOptions, Refusal> {
        TrainOptions::parse(&text.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_and_files() {
        let options = parse("-s 0 -c 5 -w1 2 -w-1 0.5 -t 1 -d 2 -r 1 -v 5 -q dir/heart m").unwrap();
        assert_eq!((options.c, options.degree, options.coef0), (5.0, 2, 1.0));
        assert_eq!(options.weights, [(1, 2.0), (-1, 0.5)]);
        assert_eq!((options.folds, options.quiet), (Some(5), true));
        assert_eq!((options.data.as_str(), options.model.as_str()), ("dir/heart", "m"));
        assert_eq!(parse("dir/heart").unwrap().model, "heart.model");
    }

    #[test]
    fn mistakes_are_refused() {
        for bad in
            ["", "-c", "-c 0 f", "-x 1 f", "-s 7 f", "-v 1 f", "-n 0 -s 1 f", "-b 2 f", "-c one f", "-wx 1 f"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
