//! From the body of a request to tensors. Every size is checked before memory is taken.

use std::borrow::Cow;

use matnet_data::Array;
use matnet_train::task::Interface;
use serde::Deserialize;

use super::datatype::DataType;
use super::metadata::{LENGTHS, MAIN_INPUT};
use super::numbers::{MAX_DEPTH, Numbers};
use super::{LABEL, inputs, outputs};
use crate::refusal::{Allowed, Refusal};

/// Letters of a name that a message repeats.
const MAX_NAME: usize = 80;
/// Bytes of a number in JSON, about.
const TEXT_BYTES: usize = 13;
/// Bytes beside those of a name: its length, or quotation marks and a comma.
const NAME_BYTES: usize = 4;

/// The JSON of a request. Unknown keys are left alone, as the protocol asks.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    parameters: RequestParameters,
    #[serde(borrow)]
    inputs: Vec<InputTensor<'a>>,
    #[serde(borrow, default)]
    outputs: Vec<OutputTensor<'a>>,
}

#[derive(Default, Deserialize)]
struct RequestParameters {
    #[serde(default)]
    binary_data_output: bool,
}

#[derive(Deserialize)]
struct InputTensor<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    shape: Vec<u64>,
    #[serde(borrow)]
    datatype: Cow<'a, str>,
    #[serde(default)]
    parameters: InputParameters,
    data: Option<Numbers>,
}

#[derive(Default, Deserialize)]
struct InputParameters {
    binary_data_size: Option<usize>,
}

#[derive(Deserialize)]
struct OutputTensor<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    parameters: OutputParameters,
}

#[derive(Default, Deserialize)]
struct OutputParameters {
    binary_data: Option<bool>,
}

/// How an output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    Json,
    Binary,
}

/// An output that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub name: &'static str,
    pub datatype: &'static str,
    pub format: OutputFormat,
}

/// A request for predictions, checked as far as that needs no net.
#[derive(Debug)]
pub struct InferRequest {
    pub id: Option<String>,
    pub inputs: Array,
    pub lengths: Vec<usize>,
    pub asked: Vec<Asked>,
}

impl InferRequest {
    /// Reads a body; where bytes of tensors follow the JSON, `json_length` says where it ends.
    pub fn parse(body: &[u8], json_length: Option<usize>, interface: &Interface) -> Allowed<Self> {
        let (text, mut binary) = match json_length {
            None => (body, &[][..]),
            Some(length) => body.split_at_checked(length).ok_or_else(|| {
                let have = body.len();
                Refusal::bad(format!(
                    "Inference-Header-Content-Length is {length}, the body has {have} bytes"
                ))
            })?,
        };
        let Body { id, parameters, inputs: tensors, outputs: wanted } = serde_json::from_slice(text)
            .map_err(|error| Refusal::bad(format!("the request is not valid: {error}")))?;
        let known: Vec<&str> = inputs(interface).iter().map(|input| input.name).collect();
        let (mut main, mut lengths) = (None, None);
        for tensor in tensors {
            let place = match &*tensor.name {
                MAIN_INPUT => &mut main,
                LENGTHS if interface.sequences => &mut lengths,
                name => {
                    let known = known.join(" and ");
                    return Err(Refusal::bad(format!(
                        "input {}: no such input; the model takes {known}",
                        shortened(name)
                    )));
                }
            };
            if place.is_some() {
                return Err(Refusal::bad(format!("input {}: given twice", tensor.name)));
            }
            *place = Some(tensor.read(&mut binary)?);
        }
        if !binary.is_empty() {
            let follow = match binary.len() {
                1 => "1 byte follows".to_owned(),
                left => format!("{left} bytes follow"),
            };
            return Err(Refusal::bad(format!(
                "{follow} the last tensor; binary_data_size says where it ends"
            )));
        }
        let (shape, values) =
            main.ok_or_else(|| Refusal::bad(format!("input {MAIN_INPUT}: is missing; the model takes it")))?;
        check_shape(&shape, interface)?;
        check_finite(&shape, &values, interface.missing)?;
        let lengths = lengths.map(|lengths| step_counts(lengths, &shape)).transpose()?.unwrap_or_default();
        let inputs = Array::new(shape, values).map_err(|error| Refusal::bad(error.to_string()))?;
        let asked = asked(&wanted, parameters.binary_data_output, interface)?;
        Ok(Self { id: id.map(Cow::into_owned), inputs, lengths, asked })
    }

    /// Bytes that the answer takes, about: the predictions, and what is sent of them.
    pub fn answer_bytes(&self, interface: &Interface) -> usize {
        let shape = self.inputs.shape();
        // Where the input decides, every step has an output.
        let steps = if shape.len() == 4 { shape[1] } else { shape[shape.len() - 1] };
        let product = |sides: &[Option<usize>]| {
            let sides = sides.iter().map(|side| side.unwrap_or(steps));
            sides.fold(shape[0], usize::saturating_mul)
        };
        let numbers = product(&interface.output);
        let name = interface.names.iter().map(String::len).max().unwrap_or(0) + NAME_BYTES;
        let sent = self.asked.iter().map(|asked| match (asked.name, asked.format) {
            (LABEL, _) => product(&interface.output[..interface.output.len() - 1]).saturating_mul(name),
            (_, OutputFormat::Binary) => numbers.saturating_mul(4),
            (_, OutputFormat::Json) => numbers.saturating_mul(TEXT_BYTES),
        });
        sent.fold(numbers.saturating_mul(4), usize::saturating_add)
    }
}

impl InputTensor<'_> {
    /// The shape and the values, from JSON or from the front of `binary`.
    fn read(self, binary: &mut &[u8]) -> Allowed<(Vec<usize>, Vec<f32>)> {
        let Self { name, shape, datatype, parameters, data } = self;
        if shape.len() > MAX_DEPTH {
            let sides = shape.len();
            return Err(Refusal::bad(format!("input {name}: the shape has {sides} sides; 3 or 4 expected")));
        }
        let wrong = |what: String| Err(Refusal::bad(format!("input {name}: {what}")));
        let datatype = DataType::parse(&name, &datatype)?;
        let sides: Option<Vec<usize>> = shape.iter().map(|&side| usize::try_from(side).ok()).collect();
        let count = sides.as_ref().and_then(|sides| {
            sides
                .iter()
                .try_fold(1_usize, |count, &side| count.checked_mul(side))
                .filter(|&count| count <= usize::MAX / 8)
        });
        let (Some(sides), Some(count)) = (sides, count) else {
            return wrong(format!("shape {shape:?} is too large"));
        };
        match (data, parameters.binary_data_size) {
            (Some(numbers), None) if numbers.values.len() != count => {
                wrong(format!("shape {shape:?} has {count} values, data has {}", numbers.values.len()))
            }
            (Some(numbers), None) => {
                match numbers.check_nesting(&shape).and_then(|()| numbers.check_type(datatype)) {
                    Ok(()) => Ok((sides, numbers.values)),
                    Err(what) => wrong(what),
                }
            }
            (None, Some(size)) if size != count * datatype.size() => {
                let expected = count * datatype.size();
                wrong(format!("binary_data_size is {size}; shape {shape:?} has {expected} bytes"))
            }
            (None, Some(size)) => match binary.split_at_checked(size) {
                None => wrong(format!("binary_data_size is {size}, but only {} bytes follow", binary.len())),
                Some((own, rest)) => {
                    *binary = rest;
                    if let Some(at) = own.iter().position(|&byte| datatype == DataType::Bool && byte > 1) {
                        return wrong(format!("value {at} is {}; BOOL, 0 to 1, expected", own[at]));
                    }
                    Ok((sides, datatype.read(own)))
                }
            },
            _ => wrong("either data or binary_data_size expected".to_owned()),
        }
    }
}

/// A name that a client made up, for a message: an answer is not as long as a request may be.
fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

/// Fails unless the shape is one that the net takes, as far as the interface says.
fn check_shape(shape: &[usize], interface: &Interface) -> Allowed<()> {
    let axes = matches!(shape.len(), 3 | 4) && !shape.contains(&0);
    // Signals may be matrices or sequences; what is computed from them has to fit, not they.
    let open = interface.input.iter().all(Option::is_none);
    let fits = |(side, wanted): (&usize, &Option<usize>)| wanted.is_none_or(|wanted| wanted == *side);
    let same = shape.len() == interface.input.len() + 1 && shape[1..].iter().zip(&interface.input).all(fits);
    // A window of a table may also come as a sequence of columns.
    let columns = interface.input.first() == Some(&None) && shape.len() == 4 && interface.input.len() == 2;
    if axes && (open || same || columns) {
        return Ok(());
    }
    let sides = interface.input.iter().map(|side| side.map_or("any".to_owned(), |side| side.to_string()));
    let wanted = std::iter::once("n".to_owned()).chain(sides).collect::<Vec<_>>().join(", ");
    Err(Refusal::bad(format!("input {MAIN_INPUT}: shape {shape:?}; [{wanted}] expected, none of them 0")))
}

fn check_finite(shape: &[usize], values: &[f32], missing: bool) -> Allowed<()> {
    let odd = |value: &f32| if missing { value.is_infinite() } else { !value.is_finite() };
    let Some(at) = values.iter().position(odd) else { return Ok(()) };
    let sample = at / (values.len() / shape[0]);
    let value = values[at];
    Err(Refusal::bad(format!("input {MAIN_INPUT}: sample {sample} holds {value}; finite numbers expected")))
}

/// The steps of each sequence, from a tensor.
fn step_counts((shape, values): (Vec<usize>, Vec<f32>), inputs: &[usize]) -> Allowed<Vec<usize>> {
    let whole = |&value: &f32| (value.fract() == 0.0 && value >= 0.0).then_some(value as usize);
    let wrong = |what: String| Refusal::bad(format!("input {LENGTHS}: {what}"));
    if shape != [inputs[0]] {
        return Err(wrong(format!("shape {shape:?}; [{}] expected, a length per sequence", inputs[0])));
    }
    values
        .iter()
        .enumerate()
        .map(|(at, value)| {
            whole(value).ok_or_else(|| wrong(format!("value {at} is {value}; a number of steps expected")))
        })
        .collect()
}

/// The outputs that are wanted: all of them, unless some are named.
fn asked(wanted: &[OutputTensor], binary: bool, interface: &Interface) -> Allowed<Vec<Asked>> {
    let known = outputs(interface);
    let format = |binary| if binary { OutputFormat::Binary } else { OutputFormat::Json };
    if wanted.is_empty() {
        let all = known.iter().map(|spec| (spec.name, spec.datatype, format(binary)));
        return Ok(all.map(|(name, datatype, format)| Asked { name, datatype, format }).collect());
    }
    let find = |output: &OutputTensor| {
        let spec = known.iter().find(|spec| spec.name == output.name).ok_or_else(|| {
            let known = known.iter().map(|spec| spec.name).collect::<Vec<_>>().join(" and ");
            let name = shortened(&output.name);
            Refusal::bad(format!("output {name}: no such output; the model gives {known}"))
        })?;
        let format = format(output.parameters.binary_data.unwrap_or(binary));
        Ok(Asked { name: spec.name, datatype: spec.datatype, format })
    };
    wanted.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use matnet_train::task::OutputKind;

    fn interface(sequences: bool) -> Interface {
        let matrix = vec![Some(2), Some(3)];
        Interface {
            kind: "feedforward",
            input: if sequences { [vec![None], matrix].concat() } else { matrix },
            sequences,
            missing: false,
            output_kind: OutputKind::Classes,
            output: vec![Some(2)],
            names: vec!["no".to_owned(), "yes".to_owned()],
        }
    }

    fn parse(body: &str) -> Allowed<InferRequest> {
        InferRequest::parse(body.as_bytes(), None, &interface(false))
    }

    #[test]
    fn flat_and_nested_data_are_the_same() {
        let flat = r#"{"id":"a","inputs":[{"name":"x","shape":[1,2,3],"datatype":"FP32","data":[1,2.5,3,-4,5e-1,1e0]}]}"#;
        let nested = r#"{"inputs":[{"name":"x","shape":[1,2,3],"datatype":"FP64","data":[[[1,2.5,3],[-4,0.5,1]]]}],"x":1}"#;
        let (flat, nested) = (parse(flat).unwrap(), parse(nested).unwrap());
        assert_eq!(flat.inputs, nested.inputs);
        assert_eq!(flat.inputs.data(), [1.0, 2.5, 3.0, -4.0, 0.5, 1.0]);
        assert_eq!((flat.id.as_deref(), nested.id), (Some("a"), None));
        assert_eq!(flat.asked.iter().map(|asked| asked.name).collect::<Vec<_>>(), ["probabilities", "label"]);
    }

    /// Data of each datatype, and what is said of them if they are not of it.
    #[test]
    fn values_are_of_the_datatype() {
        let cases = [
            ("BOOL", "true,false,1,0,1.0,0", None),
            ("BOOL", "true,0,0,0,0,2", Some("value 5 is 2; BOOL, 0 to 1, expected")),
            ("UINT8", "0,255,1,2e0,3.0,4", None),
            ("UINT8", "0,300,1,2,3,4", Some("value 1 is 300; UINT8, 0 to 255, expected")),
            ("UINT8", "0,1,-1,2,3,4", Some("value 2 is -1; UINT8, 0 to 255, expected")),
            ("UINT8", "0,1,1,true,3,4", Some("value 3 is a truth value; UINT8, 0 to 255, expected")),
            ("INT32", "0,1.5,1,2,3,4", Some("value 1 is 1.5; INT32, -2147483648 to 2147483647, expected")),
            ("INT16", "-32768,32767,0,0,0,0", None),
            ("INT16", "-32768,32768,0,0,0,0", Some("value 1 is 32768; INT16, -32768 to 32767, expected")),
            ("INT16", "1e20,0,0,0,0,0", Some("value 0 is 100000000000000000000; INT16, ")),
            ("INT16", "0,-1e300,0,0,0,0", Some("value 1 is -1e300; INT16, ")),
            ("INT32", "1e-300,0,0,0,0,0", Some("value 0 is 1e-300; INT32, ")),
            ("UINT64", "18446744073709551615,0,0,0,0,0", None),
            (
                "UINT64",
                "18446744073709551616,0,0,0,0,0",
                Some("value 0 is 18446744073709551616; UINT64, 0 to "),
            ),
            ("INT64", "9223372036854775808,0,0,0,0,0", Some("value 0 is 9223372036854775808; INT64, ")),
            ("FP32", "0,0,0,0,0,1e39", Some("value 5 is 1e39; numbers up to 3.4028235e38 expected")),
            ("FP64", "0,0,0,0,-1e39,0", Some("value 4 is -1e39; numbers up to 3.4028235e38 expected")),
            ("FP32", "0,false,0,0,0,0", Some("value 1 is a truth value; numbers of FP32 expected")),
        ];
        for (datatype, data, expected) in cases {
            let body = format!(
                r#"{{"inputs":[{{"data":[{data}],"name":"x","shape":[1,2,3],"datatype":"{datatype}"}}]}}"#
            );
            let found = parse(&body).err().map(|refusal| (refusal.status, refusal.message));
            match (found, expected) {
                (None, None) => {}
                (Some((status, said)), Some(expected)) => {
                    let said = said.strip_prefix("input x: ").unwrap();
                    assert!(
                        status.as_u16() == 400 && said.starts_with(expected),
                        "{datatype} {data}: {said}"
                    );
                }
                (found, _) => panic!("{datatype} {data}: {found:?}"),
            }
        }
    }

    #[test]
    fn nested_values_are_nested_as_the_shape_says() {
        let nested = |data: &str| {
            parse(&format!(
                r#"{{"inputs":[{{"name":"x","shape":[1,2,3],"datatype":"FP32","data":{data}}}]}}"#
            ))
        };
        assert!(nested("[[[1,2,3],[4,5,6]]]").is_ok() && nested("[1,2,3,4,5,6]").is_ok());
        let expected = "; flat values, or arrays of the shape [1, 2, 3] expected";
        for (data, found) in [
            ("[[[1,2],[3,4],[5,6]]]", "arrays of the shape [1, 3, 2]"),
            ("[[1,2,3],[4,5,6]]", "arrays of the shape [2, 3]"),
            ("[[[1,2,3,4],[5,6]]]", "arrays of different lengths"),
            ("[[1,2,3],4,5,6]", "arrays of different lengths"),
            ("[1,2,3,[4,5,6]]", "arrays of different lengths"),
            ("[[[1,2,3],[4,5,6]],[]]", "arrays of different lengths"),
        ] {
            let said = nested(data).unwrap_err().message;
            assert_eq!(said, format!("input x: data has {found}{expected}"), "{data}");
        }
    }

    #[test]
    fn bytes_follow_the_json() {
        let text = r#"{"inputs":[{"name":"lengths","shape":[2],"datatype":"INT64","parameters":{"binary_data_size":16}},
            {"name":"x","shape":[2,1,2,3],"datatype":"FP64","parameters":{"binary_data_size":96}}],
            "outputs":[{"name":"label"},{"name":"probabilities","parameters":{"binary_data":true}}]}"#;
        let mut body = text.as_bytes().to_vec();
        body.extend([1_i64, 1].iter().flat_map(|length| length.to_le_bytes()));
        body.extend((0..12).flat_map(|value| f64::from(value).to_le_bytes()));
        let request = InferRequest::parse(&body, Some(text.len()), &interface(true)).unwrap();
        assert_eq!((request.inputs.shape(), request.lengths), (&[2, 1, 2, 3][..], vec![1, 1]));
        assert_eq!(request.inputs.data()[11], 11.0);
        let formats: Vec<_> = request.asked.iter().map(|asked| (asked.name, asked.format)).collect();
        assert_eq!(formats, [("label", OutputFormat::Json), ("probabilities", OutputFormat::Binary)]);
        let error = |body: &[u8], length| {
            InferRequest::parse(body, Some(length), &interface(true)).unwrap_err().message
        };
        let short = error(&body[..body.len() - 1], text.len());
        assert_eq!(short, "input x: binary_data_size is 96, but only 95 bytes follow");
        body.push(0);
        assert_eq!(
            error(&body, text.len()),
            "1 byte follows the last tensor; binary_data_size says where it ends"
        );
        let text = r#"{"inputs":[{"name":"x","shape":[1,2,3],"datatype":"BOOL","parameters":{"binary_data_size":6}}]}"#;
        let of = |bytes: [u8; 6]| {
            let body = [text.as_bytes(), &bytes].concat();
            InferRequest::parse(&body, Some(text.len()), &interface(false)).map(|request| request.inputs)
        };
        assert_eq!(of([0, 1, 1, 0, 0, 1]).unwrap().data(), [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(
            of([0, 1, 1, 0, 2, 1]).unwrap_err().message,
            "input x: value 4 is 2; BOOL, 0 to 1, expected"
        );
        assert_eq!(error(b"{}", 3), "Inference-Header-Content-Length is 3, the body has 2 bytes");
    }

    #[test]
    fn the_size_of_an_answer_is_known_before_it_is_computed() {
        let body = |outputs: &str| {
            format!(
                r#"{{"inputs":[{{"name":"x","shape":[2,2,3],"datatype":"FP32","data":[1,2,3,4,5,6,1,2,3,4,5,6]}}],"outputs":[{outputs}]}}"#
            )
        };
        let bytes = |outputs: &str| parse(&body(outputs)).unwrap().answer_bytes(&interface(false));
        let (numbers, labels) = (2 * 2, 2 * (3 + NAME_BYTES));
        assert_eq!(bytes(""), numbers * (4 + TEXT_BYTES) + labels);
        assert_eq!(bytes(r#"{"name":"label"}"#), numbers * 4 + labels);
        assert_eq!(bytes(r#"{"name":"probabilities","parameters":{"binary_data":true}}"#), numbers * 8);
        // Where every step has an output, the input decides.
        let steps = Interface { output: vec![None, Some(2)], ..interface(true) };
        let body = r#"{"inputs":[{"name":"x","shape":[1,2,2,3],"datatype":"FP32","data":[1,2,3,4,5,6,1,2,3,4,5,6]}],
            "parameters":{"binary_data_output":true}}"#;
        let request = InferRequest::parse(body.as_bytes(), None, &steps).unwrap();
        assert_eq!(request.answer_bytes(&steps), numbers * 8 + labels);
    }

    #[test]
    fn every_wrong_request_is_told_what_would_be_right() {
        let input = |rest: &str| format!(r#"{{"inputs":[{{"name":"x","datatype":"FP32",{rest}}}]}}"#);
        let deep = "[".repeat(100_000);
        let cases = [
            ("", "the request is not valid: EOF while parsing a value at line 1 column 0"),
            ("[1]", "the request is not valid: "),
            (r#"{"inputs":[]}"#, "input x: is missing; the model takes it"),
            (
                r#"{"inputs":[{"name":"y","shape":[1],"datatype":"FP32","data":[1]}]}"#,
                "input y: no such input; the model takes x",
            ),
            (
                &input(r#""shape":[1,2,3],"data":[1,2,3,4,5]"#),
                "input x: shape [1, 2, 3] has 6 values, data has 5",
            ),
            (
                &input(r#""shape":[1,3,2],"data":[1,2,3,4,5,6]"#),
                "input x: shape [1, 3, 2]; [n, 2, 3] expected, none of them 0",
            ),
            (
                &input(r#""shape":[0,2,3],"data":[]"#),
                "input x: shape [0, 2, 3]; [n, 2, 3] expected, none of them 0",
            ),
            (&input(r#""shape":[1,2,3]"#), "input x: either data or binary_data_size expected"),
            (
                &input(r#""shape":[-1,2,3],"data":[]"#),
                "the request is not valid: invalid value: integer `-1`, expected u64",
            ),
            (
                &input(r#""shape":[4294967296,4294967296,4294967296],"data":[]"#),
                "input x: shape [4294967296, 4294967296, 4294967296] is too large",
            ),
            (
                &input(r#""shape":[100000000000,2,3],"parameters":{"binary_data_size":24}"#),
                "input x: binary_data_size is 24; shape [100000000000, 2, 3] has 2400000000000 bytes",
            ),
            (
                &input(r#""shape":[1,2,3],"data":[1,2,3,4,5,1e39]"#),
                "input x: value 5 is 1e39; numbers up to 3.4028235e38 expected",
            ),
            (
                &input(r#""shape":[1,2,3],"data":[1,2,3,4,5,"six"]"#),
                "the request is not valid: invalid type: string",
            ),
            (
                &input(&format!(r#""shape":[1,2,3],"data":{deep}"#)),
                "the request is not valid: more than 8 arrays within each other",
            ),
            (
                &input(r#""shape":[1,1,1,1,1,1,1,2,3],"data":[1]"#),
                "input x: the shape has 9 sides; 3 or 4 expected",
            ),
            (
                &format!(
                    r#"{{"inputs":[{{"name":"{}","shape":[1],"datatype":"FP32","data":[1]}}]}}"#,
                    "ä".repeat(100)
                ),
                &format!("input {}…: no such input", "ä".repeat(80)),
            ),
            (
                r#"{"inputs":[{"name":"x","shape":[1,2,3],"datatype":"BYTES","data":[1,2,3,4,5,6]}]}"#,
                "input x: datatype BYTES; FP32, FP64, BOOL, INT8 to INT64 or UINT8 to UINT64 expected",
            ),
            (
                r#"{"inputs":[{"name":"x","shape":[1,2,3],"datatype":"FP32","data":[1,2,3,4,5,6]}],"outputs":[{"name":"y"}]}"#,
                "output y: no such output; the model gives probabilities and label",
            ),
        ];
        for (body, expected) in cases {
            let error = parse(body).unwrap_err().message;
            assert!(error.starts_with(expected), "{error}\n{expected}");
        }
        let lengths = r#"{"inputs":[{"name":"x","shape":[1,1,2,3],"datatype":"FP32","data":[1,2,3,4,5,6]},
            {"name":"lengths","shape":[1],"datatype":"FP32","data":[0.5]}]}"#;
        let error = InferRequest::parse(lengths.as_bytes(), None, &interface(true)).unwrap_err().message;
        assert_eq!(error, "input lengths: value 0 is 0.5; a number of steps expected");
    }
}
