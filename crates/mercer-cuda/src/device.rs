//! A CUDA device: its memory, its compiler and its functions.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self as driver, CUfunction_attribute_enum};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DriverError, result};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys as compiler};
use mercer::gram::GramError;
use mercer::watch::{Stopped, Watch};

use crate::blas::Blas;
use crate::cache::Cache;
use crate::error::CudaError;
use crate::machine::Machine;
use crate::source::REDUCE;

/// Bytes on a device.
pub(crate) type Bytes = CudaSlice<u8>;

/// A device and its compiled functions. Work runs in one stream, for one caller at a time.
#[derive(Debug)]
pub(crate) struct Device {
    pub ordinal: usize,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// The compiler options, which are also part of the cache key.
    architecture: String,
    version: String,
    /// Multiprocessors.
    pub processors: usize,
    /// Bytes that samples and matrices may take.
    room: u64,
    /// Bytes of samples.
    resident: AtomicU64,
    blas: OnceLock<Blas>,
    modules: Mutex<HashMap<String, Arc<CudaModule>>>,
    cache: Cache,
    work: Mutex<()>,
    fault: Mutex<Option<CudaError>>,
}

/// Why work on a device ended early.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The watch asked to stop.
    Stopped,
    /// The device failed.
    Failed(CudaError),
}

impl<E: Into<CudaError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Ended> for GramError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped => Self::Stopped(Stopped),
            Ended::Failed(error) => error.into(),
        }
    }
}

/// Fails if `watch` asks to stop.
pub(crate) fn check(watch: &dyn Watch) -> Result<(), Ended> {
    watch.check().map_err(|_| Ended::Stopped)
}

/// An argument of a launch.
pub(crate) fn argument<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

/// Values as the arguments of a launch.
pub(crate) fn arguments_of<T>(values: &[T]) -> Vec<*const c_void> {
    values.iter().map(argument).collect()
}

/// Variables as the arguments of a launch.
macro_rules! arguments {
    ($($variable:ident),+ $(,)?) => { [$($crate::device::argument(&$variable)),+] };
}
pub(crate) use arguments;

/// Blocks of threads to launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub blocks: (usize, usize),
    pub threads: usize,
    pub shared: usize,
}

impl Grid {
    /// One thread for each of `count` items.
    pub fn over(count: usize) -> Self {
        Self { blocks: (count.div_ceil(256), 1), threads: 256, shared: 0 }
    }
}

/// The target time of a launch: short enough for a quick stop.
const LAUNCH: Duration = Duration::from_millis(80);

impl Device {
    /// Opens a device.
    pub fn open(ordinal: usize, cache: Cache) -> Result<Arc<Self>, CudaError> {
        let compiler = compiler_version();
        // SAFETY: this only tries to load a library by its name.
        let driver = unsafe { driver::is_culib_present() };
        let machine = Machine { driver, compiler, card: None, solvers: Blas::is_present() };
        machine.check()?;
        let found = counted(CudaContext::device_count())?;
        if ordinal >= found {
            return Err(CudaError::NoDevice { wanted: ordinal, found });
        }
        let context = CudaContext::new(ordinal)?;
        let (major, minor) = context.compute_capability()?;
        Machine { card: Some((major, minor)), ..machine }.check()?;
        // SAFETY: all work is in one stream, which keeps its order.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream()?;
        let processors =
            context.attribute(driver::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let (free, total) = result::mem_get_info()?;
        let (of_major, of_minor) = compiler.unwrap_or_default();
        Ok(Arc::new(Self {
            ordinal,
            context,
            stream,
            architecture: format!("sm_{major}{minor}"),
            version: format!("{of_major}.{of_minor}"),
            processors: processors.max(1) as usize,
            room: room(free as u64, total as u64),
            resident: AtomicU64::new(0),
            blas: OnceLock::new(),
            modules: Mutex::default(),
            cache,
            work: Mutex::default(),
            fault: Mutex::default(),
        }))
    }

    /// The name of the card.
    pub fn name(&self) -> String {
        self.context.name().unwrap_or_else(|_| "CUDA device".to_owned())
    }

    /// Free and total bytes. Memory of other processes is not free.
    pub fn memory(&self) -> Result<(u64, u64), CudaError> {
        self.context.bind_to_thread()?;
        let (free, total) = result::mem_get_info()?;
        Ok((free as u64, total as u64))
    }

    /// Bytes that samples and matrices may take together.
    pub fn whole_room(&self) -> u64 {
        self.room
    }

    /// Bytes that matrices may take in addition to the samples: what was free when the device was opened, and nine tenths of its
    /// memory at most, less the samples.
    pub fn room(&self) -> u64 {
        self.room.saturating_sub(self.resident.load(Ordering::Relaxed))
    }

    /// Counts samples of so many bytes until the value is dropped.
    pub fn hold(self: &Arc<Self>, bytes: u64) -> Held {
        self.resident.fetch_add(bytes, Ordering::Relaxed);
        Held { device: Arc::clone(self), bytes }
    }

    /// The stream of all work.
    pub fn stream(&self) -> &CudaStream {
        &self.stream
    }

    /// The same, for libraries that keep it.
    pub fn shared_stream(&self) -> Arc<CudaStream> {
        Arc::clone(&self.stream)
    }

    /// The last failure in a method that cannot return an error.
    pub fn take_fault(&self) -> Option<CudaError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn set_fault(&self, error: CudaError) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// Locks the device for this caller.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uninitialised memory.
    pub fn allocate(&self, bytes: usize) -> Result<Bytes, CudaError> {
        // SAFETY: callers write before they read.
        unsafe { self.stream.alloc::<u8>(bytes.max(16)) }.map_err(|error| match (error.0, self.memory()) {
            (driver::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY, Ok((free, total))) => {
                CudaError::Memory { needed: bytes as u64, free, total }
            }
            _ => error.into(),
        })
    }

    /// A copy of `values` on the device.
    pub fn upload<T: Plain>(&self, values: &[T]) -> Result<Bytes, CudaError> {
        let mut to = self.allocate(size_of_val(values))?;
        self.stream.memcpy_htod(bytes_of(values), &mut to)?;
        Ok(to)
    }

    /// Copies `values` to the numbers of `to` from the one with index `first` on.
    pub fn write<T: Plain>(&self, values: &[T], first: usize, to: &mut Bytes) -> Result<(), CudaError> {
        if !values.is_empty() {
            let start = first * size_of::<T>();
            let mut part = to.slice_mut(start..start + size_of_val(values));
            self.stream.memcpy_htod(bytes_of(values), &mut part)?;
        }
        Ok(())
    }

    /// Memory of zeros.
    pub fn zeros(&self, bytes: usize) -> Result<Bytes, CudaError> {
        let mut to = self.allocate(bytes)?;
        self.stream.memset_zeros(&mut to)?;
        Ok(to)
    }

    /// Copies the first of `from` to `to` and waits for it.
    pub fn download<T: Plain>(&self, from: &Bytes, to: &mut [T]) -> Result<(), CudaError> {
        let to = bytes_of_mut(to);
        if !to.is_empty() {
            self.stream.memcpy_dtoh(&from.slice(..to.len()), to)?;
        }
        self.wait()
    }

    /// Waits for all work.
    pub fn wait(&self) -> Result<(), CudaError> {
        Ok(self.stream.synchronize()?)
    }

    /// The function `name` of `text`, compiled on first use; `shared` is the shared memory that it may take.
    pub fn function(&self, text: &str, name: &str, shared: usize) -> Result<CudaFunction, CudaError> {
        let function = self.module(text)?.load_function(name)?;
        function.set_attribute(
            CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            shared as i32,
        )?;
        Ok(function)
    }

    fn module(&self, text: &str) -> Result<Arc<CudaModule>, CudaError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(text) {
            return Ok(Arc::clone(module));
        }
        let key = format!("{} {}\n{text}", self.architecture, self.version);
        let load = |binary| self.context.load_module(Ptx::from_binary(binary));
        let module = match self.cache.load(&key).and_then(|binary| load(binary).ok()) {
            Some(module) => module,
            None => {
                let binary = compile(text, &self.architecture)?;
                self.cache.save(&key, &binary);
                load(binary)?
            }
        };
        modules.insert(text.to_owned(), Arc::clone(&module));
        Ok(module)
    }

    /// Launches a function.
    ///
    /// # Safety
    /// The arguments must be those that the function takes, and its accesses must stay within what they point to.
    pub unsafe fn launch(
        &self,
        function: &CudaFunction,
        grid: Grid,
        arguments: &[*const c_void],
    ) -> Result<(), CudaError> {
        if grid.blocks.0 == 0 || grid.blocks.1 == 0 {
            return Ok(());
        }
        self.context.bind_to_thread()?;
        let mut arguments: Vec<*mut c_void> = arguments.iter().map(|a| a.cast_mut()).collect();
        // SAFETY: the caller's promise.
        unsafe {
            result::launch_kernel(
                function.cu_function(),
                (grid.blocks.0 as u32, grid.blocks.1 as u32, 1),
                (grid.threads as u32, 1, 1),
                grid.shared as u32,
                self.stream.cu_stream(),
                &mut arguments,
            )?;
        }
        Ok(())
    }

    /// Calls `launch(first, count)` for pieces of `blocks` that take [`LAUNCH`] each, and checks `watch` between them.
    /// One piece runs while the host waits for another.
    pub fn in_pieces(
        &self,
        blocks: usize,
        watch: &dyn Watch,
        mut launch: impl FnMut(usize, usize) -> Result<(), CudaError>,
    ) -> Result<(), Ended> {
        let mut piece = self.processors * 2;
        let (mut done, mut measured) = (0, false);
        let mut ahead = None;
        while done < blocks {
            check(watch)?;
            let count = piece.min(blocks - done);
            let begin = Instant::now();
            launch(done, count)?;
            done += count;
            let event = self.stream.record_event(None)?;
            if measured {
                if let Some(before) = ahead.replace(event) {
                    let before: cudarc::driver::CudaEvent = before;
                    before.synchronize()?;
                }
            } else {
                event.synchronize()?;
                let took = begin.elapsed().max(Duration::from_micros(20));
                let times = LAUNCH.as_secs_f64() / took.as_secs_f64();
                piece = ((piece as f64 * times) as usize).clamp(self.processors, usize::MAX / 2);
                measured = true;
            }
        }
        check(watch)?;
        Ok(self.wait()?)
    }

    /// cuBLAS and cuSOLVER, loaded on first use.
    pub fn blas(&self) -> Result<&Blas, CudaError> {
        if self.blas.get().is_none() {
            self.context.bind_to_thread()?;
            let _ = self.blas.set(Blas::new(self)?);
        }
        self.blas.get().ok_or(CudaError::NoSolver)
    }

    /// The result for a method that can only return [`Stopped`]: a failure is recorded for the engine.
    pub fn record_fault<T>(&self, result: Result<T, Ended>) -> Result<T, Stopped> {
        result.map_err(|ended| {
            if let Ended::Failed(error) = ended {
                self.set_fault(error);
            }
            Stopped
        })
    }

    /// The function that adds the parts of a product.
    pub fn add_splits(&self) -> Result<CudaFunction, CudaError> {
        self.function(REDUCE, "add_splits", 0)
    }
}

/// Samples of some bytes on a device.
#[derive(Debug)]
pub(crate) struct Held {
    device: Arc<Device>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.device.resident.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes that samples and matrices may take on a device of which others may use a part.
fn room(free: u64, total: u64) -> u64 {
    free.min(total / 10 * 9)
}

/// The number of devices, none if the driver finds none.
fn counted(count: Result<i32, DriverError>) -> Result<usize, DriverError> {
    match count {
        Err(DriverError(driver::cudaError_enum::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        count => Ok(count?.max(0) as usize),
    }
}

/// The version of the compiler; `None` if its library is missing.
fn compiler_version() -> Option<(i32, i32)> {
    // SAFETY: this only tries to load a library by its name.
    if !unsafe { compiler::is_culib_present() } {
        return None;
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are valid for writing.
    unsafe { compiler::nvrtcVersion(&mut major, &mut minor) }.result().ok()?;
    Some((major, minor))
}

/// Numbers that may be copied as bytes.
pub(crate) trait Plain: Copy {}
impl Plain for f32 {}
impl Plain for f64 {}
impl Plain for i32 {}

fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the numbers have no padding and every byte is a value.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    let bytes = size_of_val(values);
    // SAFETY: as in `bytes_of`; any bytes are numbers.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), bytes) }
}

/// Machine code for an architecture.
fn compile(text: &str, architecture: &str) -> Result<Vec<u8>, CudaError> {
    let failed = |error: nvrtc::NvrtcError| CudaError::Compile { log: format!("{error:?}") };
    let source =
        CString::new(text).map_err(|_| CudaError::Compile { log: "a NUL in the source".to_owned() })?;
    let program = nvrtc::create_program(&source, None).map_err(failed)?;
    let options = [
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".to_owned(),
        "-default-device".to_owned(),
    ];
    // SAFETY: the program was made above and is destroyed below, once.
    unsafe {
        let compiled = nvrtc::compile_program(program, &options).map_err(|error| {
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.iter().map(|c| *c as u8).filter(|c| *c != 0).collect();
            CudaError::Compile { log: format!("{error:?}: {}", String::from_utf8_lossy(&log)) }
        });
        let binary = compiled.and_then(|()| {
            let mut size = 0;
            compiler::nvrtcGetCUBINSize(program, &mut size).result().map_err(failed)?;
            let mut binary = vec![0u8; size];
            compiler::nvrtcGetCUBIN(program, binary.as_mut_ptr().cast::<c_char>())
                .result()
                .map_err(failed)?;
            Ok(binary)
        });
        let _ = nvrtc::destroy_program(program);
        binary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_device_counts_as_none() {
        use driver::cudaError_enum::{CUDA_ERROR_NO_DEVICE, CUDA_ERROR_SYSTEM_NOT_READY};
        assert_eq!(counted(Ok(3)), Ok(3));
        assert_eq!(counted(Err(DriverError(CUDA_ERROR_NO_DEVICE))), Ok(0));
        let broken = Err(DriverError(CUDA_ERROR_SYSTEM_NOT_READY));
        assert_eq!(counted(broken), Err(DriverError(CUDA_ERROR_SYSTEM_NOT_READY)));
    }

    #[test]
    fn memory_of_others_is_no_room() {
        assert_eq!(room(1000, 1000), 900);
        assert_eq!(room(899, 1000), 899);
        assert_eq!(room(0, 1000), 0);
    }
}
