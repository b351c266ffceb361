"""The package as a whole: import cost, imported modules, and correctness of stubs and examples."""

import ast
import doctest
import importlib
import inspect
import os
import pickle
import subprocess
import sys
from importlib.metadata import metadata, version
from pathlib import Path

import mercer
import numpy as np
import pytest

PACKAGE = Path(mercer.__file__).parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))
ALLOWED = ("sklearn.base", "sklearn.utils", "sklearn.exceptions", "sklearn.callback")


def run(program):
    environment = {name: value for name, value in os.environ.items() if name != "MERCER_SIMD"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()


def test_import_is_lazy():
    program = "import sys, numpy; before = set(sys.modules); import mercer; print(sorted(set(sys.modules) - before))"
    assert ast.literal_eval(run(program)) == ["mercer"]
    program = "import sys, mercer; mercer.Kernel('linear')([[1.0]]); print('sklearn' in sys.modules or 'scipy' in sys.modules)"
    assert run(program) == "False"


def test_an_unsupported_instruction_set_is_an_import_error():
    def imported(value):
        return subprocess.run(
            [sys.executable, "-c", "import mercer"],
            capture_output=True,
            text=True,
            env={**os.environ, "MERCER_SIMD": value},
        )

    assert imported("portable").returncode == 0
    assert imported("").returncode == 0
    done = imported("sse9")
    assert done.returncode == 1
    assert "ImportError: MERCER_SIMD is `sse9`; allowed are `avx512`, `avx2`, `neon` and `portable`" in done.stderr


@pytest.mark.parametrize("module", MODULES)
def test_imports_of_scikit_learn(module):
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name.split(".")[0] == "sklearn":
                assert any(name == a or name.startswith(a + ".") for a in ALLOWED), name


def test_runtime_imports_of_scikit_learn():
    """Modules loaded by a fit and a prediction in addition to those of the allowed modules."""
    program = (
        "import sys, numpy as np, sklearn.base, sklearn.utils, sklearn.utils.metaestimators\n"
        "import sklearn.utils.validation, sklearn.exceptions\n"
        "try: import sklearn.callback\n"
        "except ImportError: pass\n"
        "before = set(sys.modules); import mercer\n"
        "m = mercer.KernelRidge(kernel='rbf').fit(np.eye(5), np.arange(5.)); m.predict(np.eye(5))\n"
        "print(sorted(n for n in set(sys.modules) - before if n.startswith('sklearn')))"
    )
    assert ast.literal_eval(run(program)) == []


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module):
    loaded = importlib.import_module("mercer" if module == "__init__" else f"mercer.{module}")
    assert doctest.testmod(loaded, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("name", mercer.__all__)
def test_public_names_are_documented(name):
    thing = getattr(mercer, name)
    assert thing.__doc__
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if inspect.isfunction(value) and not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


def test_stubs_agree_with_the_code(tmp_path):
    """mypy's own comparison: every public name, parameter and default of the code is in the stubs, and nothing else."""
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"
    # Types of other packages are not compared, so the larger ones are not read.
    config.write_text("[mypy]\nignore_missing_imports = True\n[mypy-dask.*,distributed.*]\nfollow_imports = skip\n")
    allowed = Path(__file__).parent / "stubtest_allowlist.txt"
    command = [sys.executable, "-m", "mypy.stubtest", "mercer", "--concise", "--mypy-config-file", config, "--allowlist", allowed]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def stub_classes():
    """{class: (its bases, the names that its stub declares)}."""
    found = {}
    for path in PACKAGE.glob("[a-z_]*.pyi"):
        for node in ast.parse(path.read_text()).body if path.stem != "_native" else ():
            if isinstance(node, ast.ClassDef):
                annotated = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
                defined = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                found[node.name] = ([ast.unparse(base) for base in node.bases], annotated | defined)
    return found


def declared(name, classes):
    bases, names = classes.get(name, ((), set()))
    return names.union(*(declared(base, classes) for base in bases))


@pytest.mark.parametrize("name", [name for name in mercer.__all__ if hasattr(getattr(mercer, name), "get_params")])
def test_stubs_have_all_parameters_and_attributes(name):
    """Those that `__init__` and `fit` set, which stubtest does not see."""
    kind = getattr(mercer, name)
    parameters = [] if name == "Kernel" else list(inspect.signature(kind).parameters)
    _, _, attributes = inspect.getdoc(kind).partition("Attributes\n----------\n")
    lines = [line for line in attributes.partition("\n\n")[0].splitlines() if not line.startswith(" ")]
    documented = [word.strip() for line in lines for word in line.partition(" : ")[0].rstrip(",").split(",")]
    assert len(documented) > 2 or name == "Kernel"
    assert not {*parameters, *documented} - declared(name, stub_classes())


@pytest.mark.parametrize("name", ["NotAKernel", "SingularMatrix", "IndefiniteMatrix"])
def test_errors_are_importable_and_pickle(name):
    kind = getattr(mercer, name)
    assert issubclass(kind, ValueError)
    again = pickle.loads(pickle.dumps(kind("why")))
    assert type(again) is kind and str(again) == "why"


def test_a_formula_that_is_not_a_kernel_raises_an_error_of_the_package(rng):
    with pytest.raises(mercer.NotAKernel, match="not a kernel"):
        mercer.KernelRidge(kernel="tanh(<x,z>)").fit(rng.standard_normal((20, 2)), np.arange(20.0))


def test_show_versions(capsys):
    mercer.show_versions()
    told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert told["mercer"] == mercer.__version__ == version("mercer") and told["numpy"] == np.__version__
    assert told["instruction set"] in ("avx512", "avx2", "neon", "portable") and int(told["threads"]) >= 1
    assert told["python"].startswith(sys.version.split()[0]) and "scikit-learn" in told


def test_metadata_of_the_package():
    about = metadata("mercer")
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert set(about.get_all("License-File")) == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert "scikit-learn>=1.6" in about.get_all("Requires-Dist") and about["Requires-Python"] == ">=3.11"
    # The package importlib_metadata, where it is installed, has the text as a field.
    text = about.get_payload() or about["Description"]
    assert "Kernel machines" in about["Summary"] and "mercer for Python" in text
    assert (PACKAGE / "py.typed").exists()
