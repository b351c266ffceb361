from mercer._native import IndefiniteMatrix as IndefiniteMatrix
from mercer._native import NotAKernel as NotAKernel
from mercer._native import SingularMatrix as SingularMatrix
from mercer.feature_map import FeatureMap as FeatureMap
from mercer.feature_map import PolynomialFeatureMap as PolynomialFeatureMap
from mercer.gaussian_process_classifier import GaussianProcessClassifier as GaussianProcessClassifier
from mercer.gaussian_process_regressor import GaussianProcessRegressor as GaussianProcessRegressor
from mercer.kernel import Kernel as Kernel
from mercer.kernel_lms import KernelLMS as KernelLMS
from mercer.kernel_logistic_regression import KernelLogisticRegression as KernelLogisticRegression
from mercer.kernel_perceptron import KernelPerceptron as KernelPerceptron
from mercer.kernel_ridge import KernelRidge as KernelRidge
from mercer.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
from mercer.kernel_smoother import KernelSmoother as KernelSmoother
from mercer.model import Model as Model
from mercer.model import load as load
from mercer.neighbors import KNeighborsClassifier as KNeighborsClassifier
from mercer.neighbors import KNeighborsRegressor as KNeighborsRegressor
from mercer.nystroem import Nystroem as Nystroem
from mercer.random_features import RandomFourierFeatures as RandomFourierFeatures
from mercer.random_features import RBFSampler as RBFSampler
from mercer.svc_cv import SVCCV as SVCCV
from mercer.svm import SVC as SVC
from mercer.svm import SVR as SVR
from mercer.svm import NuSVC as NuSVC
from mercer.svm import NuSVR as NuSVR
from mercer.svm import OneClassSVM as OneClassSVM
from mercer.verdict import Verdict as Verdict
from mercer.versions import show_versions as show_versions

__version__: str

__all__ = [
    "FeatureMap",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "IndefiniteMatrix",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Kernel",
    "KernelLMS",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelSmoother",
    "Model",
    "NotAKernel",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "PolynomialFeatureMap",
    "RBFSampler",
    "RandomFourierFeatures",
    "SVC",
    "SVCCV",
    "SVR",
    "SingularMatrix",
    "Verdict",
    "load",
    "show_versions",
]
