"""The package as a whole: what importing costs, what it imports, and whether its stubs and examples are true."""

import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import mercer
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


def test_an_instruction_set_that_cannot_be_followed_is_an_import_error():
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
    assert "ImportError: MERCER_SIMD is `sse9`; allowed are `avx512`, `avx2` and `portable`" in done.stderr


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
    """What a fit and a prediction load beyond what the allowed modules load by themselves."""
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


def stub(module):
    """{class or function name: (its parameters or {method: parameters})} of a stub."""
    found = {}
    for node in ast.parse((PACKAGE / f"{module}.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = parameters(node)
        elif isinstance(node, ast.ClassDef):
            found[node.name] = {
                item.name: parameters(item) for item in node.body if isinstance(item, ast.FunctionDef)
            } | {item.target.id: None for item in node.body if isinstance(item, ast.AnnAssign)}
    return found


def parameters(function):
    arguments = function.args
    return [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("_")])
def test_stubs_agree_with_the_code(module):
    loaded = importlib.import_module(f"mercer.{module}")
    described = stub(module)
    for name in loaded.__all__:
        thing = getattr(loaded, name)
        assert name in described, f"{name} is not in {module}.pyi"
        if inspect.isfunction(thing):
            assert described[name] == list(inspect.signature(thing).parameters)
            continue
        for member, value in vars(thing).items():
            public = not member.startswith("_") or member in ("__init__", "__call__")
            if public and inspect.isfunction(value):
                assert described[name].get(member) == list(inspect.signature(value).parameters), f"{name}.{member}"
            elif public and isinstance(value, property):
                assert member in described[name], f"{name}.{member}"


def test_native_stub_names_what_there_is():
    from mercer import _native

    described = stub("_native")
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert public == set(described)
    for name in ("FeatureMap", "Kernel", "Model", "Sums"):
        members = {member for member in vars(getattr(_native, name)) if not member.startswith("_")}
        assert members == {member for member in described[name] if not member.startswith("_")}


def test_init_stub_names_what_there_is():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imported = {a.asname for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert imported == set(mercer.__all__)
    manifest = Path(__file__).parents[3] / "Cargo.toml"
    version = re.search(r'^version = "(.+)"', manifest.read_text(), re.MULTILINE).group(1)
    assert mercer.__version__ == version
