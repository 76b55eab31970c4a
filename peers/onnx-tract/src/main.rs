//! Runs ONNX files in tract.
//!
//! Reads a job per line: the file, where the outputs go, for how many seconds to repeat, by which clock (`wall` or `cpu`), and the inputs,
//! all separated by tabs. An input is `f32:2x28x28:PATH` or `i64:2:PATH`, a file of little-endian numbers. Output k goes to `OUT.k`. Answers
//! with a line: `ok`, the fewest nanoseconds of a run, and the outputs as `f32:2x10`; or `error` and what went wrong.

use std::io::{BufRead, Write};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use tract_onnx::prelude::*;

fn main() -> TractResult<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match job(&line?) {
            Ok(answer) => writeln!(out, "ok {answer}")?,
            Err(error) => writeln!(out, "error {}", format!("{error:?}").replace('\n', " | "))?,
        }
        out.flush()?;
    }
    Ok(())
}

fn job(line: &str) -> TractResult<String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [path, out, seconds, clock, inputs @ ..] = &fields[..] else {
        return Err(format_err!("a file, an output, seconds, a clock and inputs expected"));
    };
    let clock = if *clock == "cpu" { ClockId::ProcessCPUTime } else { ClockId::Monotonic };
    let tensors = inputs.iter().map(|input| read(input)).collect::<TractResult<Vec<Tensor>>>()?;
    let mut model = tract_onnx::onnx().model_for_path(path)?;
    for (at, tensor) in tensors.iter().enumerate() {
        model = model.with_input_fact(at, InferenceFact::dt_shape(tensor.datum_type(), tensor.shape()))?;
    }
    let model = model.into_optimized()?.into_runnable()?;
    let values = || tensors.iter().map(|tensor| tensor.clone().into_tvalue()).collect::<TVec<TValue>>();
    let seconds: f64 = seconds.parse()?;
    let began = Instant::now();
    let (mut fewest, mut outputs) = (i64::MAX, None);
    while outputs.is_none() || began.elapsed().as_secs_f64() < seconds {
        let inputs = values();
        let start = nanoseconds(clock);
        outputs = Some(model.run(inputs)?);
        fewest = fewest.min(nanoseconds(clock) - start);
    }
    let mut answer = fewest.to_string();
    for (at, output) in outputs.into_iter().flatten().enumerate() {
        let kind = if output.datum_type() == f32::datum_type() { "f32" } else { "i64" };
        let output = match kind {
            "f32" => output.into_tensor(),
            // Some integers are symbolic inside tract.
            _ => output.cast_to::<i64>()?.into_owned(),
        };
        let sides: Vec<String> = output.shape().iter().map(usize::to_string).collect();
        std::fs::write(format!("{out}.{at}"), output.as_bytes())?;
        answer += &format!(" {kind}:{}", sides.join("x"));
    }
    Ok(answer)
}

fn nanoseconds(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn read(input: &str) -> TractResult<Tensor> {
    let fields: Vec<&str> = input.splitn(3, ':').collect();
    let [kind, sides, path] = fields[..] else {
        return Err(format_err!("{input}: type, sides and path expected"));
    };
    let sides = sides.split('x').map(|side| Ok(side.parse()?)).collect::<TractResult<Vec<usize>>>()?;
    let bytes = std::fs::read(path)?;
    match kind {
        "f32" => {
            let values: Vec<f32> =
                bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
            Tensor::from_shape(&sides, &values)
        }
        _ => {
            let values: Vec<i64> =
                bytes.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect();
            Tensor::from_shape(&sides, &values)
        }
    }
}
