"""The search for NVIDIA's libraries in Python packages."""

import ctypes

import pytest
from mercer import _cuda_libraries


def _install(site, *files):
    for file in files:
        path = site / "nvidia" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_libraries_come_before_those_that_need_them(tmp_path):
    _install(
        tmp_path,
        "cusolver/lib/libcusolver.so.11",
        "cusolver/lib/libcusolverMg.so.11",
        "cusparse/lib/libcusparse.so.12",
        "nvjitlink/lib/libnvJitLink.so.12",
        "cublas/lib/libcublas.so.12",
        "cublas/lib/libcublasLt.so.12",
        "cublas/lib/libnvblas.so.12",
        "cuda_nvrtc/lib/libnvrtc.so.12",
        "cuda_nvrtc/lib/libnvrtc-builtins.so.12.8",
    )
    found = [file.name for file in _cuda_libraries.find([str(tmp_path / "absent"), str(tmp_path)])]
    assert found == [
        "libnvrtc.so.12",
        "libcublasLt.so.12",
        "libcublas.so.12",
        "libnvJitLink.so.12",
        "libcusparse.so.12",
        "libcusolver.so.11",
    ]


def test_the_newest_version_of_the_first_folder(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    _install(first, "cuda_nvrtc/lib/libnvrtc.so.9", "cu12/lib/libnvrtc.so.12")
    _install(second, "cu13/lib/libnvrtc.so.13", "cu13/lib/libcublas.so.13")
    found = _cuda_libraries.find([str(first), str(second)])
    assert found == [first / "nvidia/cu12/lib/libnvrtc.so.12", second / "nvidia/cu13/lib/libcublas.so.13"]
    assert _cuda_libraries.find([str(tmp_path)]) == []


@pytest.mark.parametrize("on_path", [False, True])
def test_libraries_on_the_loaders_path_come_first(tmp_path, monkeypatch, on_path):
    _install(tmp_path, "cuda_nvrtc/lib/libnvrtc.so.12", "cublas/lib/libcublas.so.12")
    loaded = []

    def load(name, mode):
        assert mode == ctypes.RTLD_GLOBAL
        loaded.append(name)
        if not on_path and "/" not in name:
            raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.setattr(_cuda_libraries, "_TRIED", [])
    _cuda_libraries.preload()
    _cuda_libraries.preload()
    files = [str(file) for file in _cuda_libraries.find([str(tmp_path)])]
    expected = [name for pair in zip(["libnvrtc.so", "libcublas.so"], files) for name in pair]
    assert loaded == (expected[::2] if on_path else expected)
