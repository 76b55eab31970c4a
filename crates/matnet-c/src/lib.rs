//! The C interface of matnet. `include/matnet.h` says what each function does; this is only the boundary.
//!
//! No panic crosses it: every function that does work runs inside `guarded`. What an argument points to is checked as far as C allows:
//! null pointers are errors, and sizes are multiplied without overflow.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

use burn::tensor::Device;
use matnet_data::Array;
use matnet_train::task::{Interface, OutputKind, Predictions};
use matnet_train::{Predictor, Run};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// Well.
    Ok = 0,
    /// An argument is null or no UTF-8.
    Argument = 1,
    /// The run cannot be read.
    Run = 2,
    /// The inputs do not fit the net.
    Input = 3,
    /// A bug in matnet.
    Internal = 4,
}

/// A trained net, `matnet_model`.
pub struct ModelHandle {
    predictor: Box<dyn Predictor>,
    interface: Interface,
    kind: CString,
    names: Vec<CString>,
}

/// Predictions, `matnet_prediction`.
pub struct PredictionHandle {
    predictions: Predictions,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

type Outcome<T> = Result<T, (Status, String)>;

/// Runs a call, and remembers what went wrong with it.
fn guarded(call: impl FnOnce() -> Outcome<()>) -> Status {
    let done = catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err((Status::Internal, format!("internal error: {}", panic_text(&*panic)))));
    match done {
        Ok(()) => Status::Ok,
        Err((status, message)) => {
            LAST_ERROR.with(|last| *last.borrow_mut() = c_string(&message));
            status
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

/// Text for C, without the zero bytes that would end it early.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn null(what: &str) -> (Status, String) {
    (Status::Argument, format!("{what} is NULL"))
}

/// `matnet_version`
#[unsafe(no_mangle)]
pub extern "C" fn matnet_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `matnet_last_error`
#[unsafe(no_mangle)]
pub extern "C" fn matnet_last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

/// `matnet_load`
///
/// # Safety
///
/// `run` is null or a string that ends with a zero byte; `model` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn matnet_load(run: *const c_char, model: *mut *mut ModelHandle) -> Status {
    guarded(|| {
        if run.is_null() {
            return Err(null("run"));
        }
        if model.is_null() {
            return Err(null("model"));
        }
        // SAFETY: `model` is not null, and the caller says that it may be written to.
        unsafe { *model = ptr::null_mut() };
        // SAFETY: `run` is not null, and the caller says that it is a string.
        let run = unsafe { CStr::from_ptr(run) };
        let run = run.to_str().map_err(|_| (Status::Argument, "run is not UTF-8".to_owned()))?;
        let loaded = Box::new(load(Path::new(run))?);
        // SAFETY: as above.
        unsafe { *model = Box::into_raw(loaded) };
        Ok(())
    })
}

fn load(folder: &Path) -> Outcome<ModelHandle> {
    let failed = |error: matnet_train::Error| (Status::Run, error.to_string());
    let predictor = Run::at(folder).load("best.safetensors", &Device::flex()).map_err(failed)?;
    let Some(interface) = predictor.interface() else {
        let what = "takes graphs or stories; nets on matrices and sequences predict for arrays";
        return Err((Status::Run, format!("{}: {what}", folder.display())));
    };
    let kind = c_string(interface.kind);
    let names = interface.names.iter().map(|name| c_string(name)).collect();
    Ok(ModelHandle { predictor, interface, kind, names })
}

/// `matnet_free`
///
/// # Safety
///
/// `model` is null or comes from `matnet_load`, and is not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn matnet_free(model: *mut ModelHandle) {
    if !model.is_null() {
        // SAFETY: the caller says that it comes from `matnet_load`, which made it with `Box::into_raw`.
        let model = unsafe { Box::from_raw(model) };
        guarded(|| {
            drop(model);
            Ok(())
        });
    }
}

/// Declares a function that reads something of a handle, with a value for a null pointer.
macro_rules! reader {
    ($name:ident($handle:ident: $type:ty $(, $arg:ident: $arg_type:ty)*) -> $result:ty, $none:expr, $read:expr) => {
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        ///
        /// The handle is null or was made by this library and not freed.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($handle: *const $type $(, $arg: $arg_type)*) -> $result {
            // SAFETY: the caller says that the handle is null or still there.
            match unsafe { $handle.as_ref() } {
                None => $none,
                Some($handle) => $read,
            }
        }
    };
}

/// The length of an axis; 0 where it is open, or beyond the last.
fn side(sides: &[Option<usize>], axis: usize) -> usize {
    sides.get(axis).copied().flatten().unwrap_or(0)
}

reader!(matnet_kind(model: ModelHandle) -> *const c_char, ptr::null(), model.kind.as_ptr());
reader!(matnet_input_rank(model: ModelHandle) -> usize, 0, model.interface.input.len());
reader!(matnet_input_side(model: ModelHandle, axis: usize) -> usize, 0, side(&model.interface.input, axis));
reader!(matnet_takes_sequences(model: ModelHandle) -> c_int, 0, c_int::from(model.interface.sequences));
reader!(matnet_output_kind(model: ModelHandle) -> c_int, 0, match model.interface.output_kind {
    OutputKind::Classes => 0,
    OutputKind::Labels => 1,
    OutputKind::Values => 2,
    OutputKind::Matrices => 3,
});
reader!(matnet_output_rank(model: ModelHandle) -> usize, 0, model.interface.output.len());
reader!(matnet_output_side(model: ModelHandle, axis: usize) -> usize, 0, side(&model.interface.output, axis));
reader!(matnet_name_count(model: ModelHandle) -> usize, 0, model.names.len());
reader!(matnet_name(model: ModelHandle, index: usize) -> *const c_char, ptr::null(),
    model.names.get(index).map_or(ptr::null(), |name| name.as_ptr()));
reader!(matnet_prediction_values(prediction: PredictionHandle) -> *const f32, ptr::null(),
    prediction.predictions.values.data().as_ptr());
reader!(matnet_prediction_rank(prediction: PredictionHandle) -> usize, 0,
    prediction.predictions.values.shape().len());
reader!(matnet_prediction_shape(prediction: PredictionHandle) -> *const usize, ptr::null(),
    prediction.predictions.values.shape().as_ptr());
reader!(matnet_prediction_class_count(prediction: PredictionHandle) -> usize, 0,
    prediction.predictions.classes.len());
reader!(matnet_prediction_classes(prediction: PredictionHandle) -> *const u32, ptr::null(),
    prediction.predictions.classes.as_ptr());

/// `matnet_predict`
///
/// # Safety
///
/// `model` is null or still there; `shape` has `rank` numbers, `input` as many as their product, `lengths` is null or has one for each
/// sample; `prediction` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn matnet_predict(
    model: *const ModelHandle,
    input: *const f32,
    shape: *const usize,
    rank: usize,
    lengths: *const usize,
    prediction: *mut *mut PredictionHandle,
) -> Status {
    guarded(|| {
        for (what, is_null) in [
            ("model", model.is_null()),
            ("input", input.is_null()),
            ("shape", shape.is_null()),
            ("prediction", prediction.is_null()),
        ] {
            if is_null {
                return Err(null(what));
            }
        }
        // SAFETY: none of them is null, and the caller says that they are what they seem.
        let (model, shape) = unsafe {
            *prediction = ptr::null_mut();
            (&*model, std::slice::from_raw_parts(shape, rank))
        };
        let wrong = |what: String| (Status::Input, what);
        let count = shape.iter().try_fold(1_usize, |count, &side| count.checked_mul(side));
        let count = count.filter(|count| *count <= isize::MAX as usize / size_of::<f32>());
        let count = count.ok_or_else(|| wrong(format!("shape {shape:?} holds too many numbers")))?;
        if rank < 3 || count == 0 {
            let what = format!("shape {shape:?}: [batch, rows, cols] or [batch, time, rows, cols] expected");
            return Err(wrong(what));
        }
        // SAFETY: the caller says that there are so many numbers.
        let input = unsafe { std::slice::from_raw_parts(input, count) }.to_vec();
        let lengths = match lengths.is_null() {
            true => &[][..],
            // SAFETY: the caller says that there is one for each sample.
            false => unsafe { std::slice::from_raw_parts(lengths, shape[0]) },
        };
        let input = Array::new(shape, input).map_err(|error| wrong(error.to_string()))?;
        let predictions = model.predictor.predict_sequences(input, lengths);
        let predictions = predictions.map_err(|error| wrong(error.to_string()))?;
        // SAFETY: as above.
        unsafe { *prediction = Box::into_raw(Box::new(PredictionHandle { predictions })) };
        Ok(())
    })
}

/// `matnet_prediction_free`
///
/// # Safety
///
/// `prediction` is null or comes from `matnet_predict`, and is not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn matnet_prediction_free(prediction: *mut PredictionHandle) {
    if !prediction.is_null() {
        // SAFETY: the caller says that it comes from `matnet_predict`, which made it with `Box::into_raw`.
        drop(unsafe { Box::from_raw(prediction) });
    }
}
