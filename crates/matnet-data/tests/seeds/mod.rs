//! Small valid files of every format, generated here, and how each is read. The hostile tests damage them, and fuzzing starts from them.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use matnet_data::Result;
use matnet_data::catalog::readers::eeg;
use matnet_data::format::bounded::Input;
use matnet_data::format::pickle::Pickle;
use matnet_data::format::{archive, csv, edgelist, idx, images, matlab, npy, npz, stories, table, ts, wav};
use matnet_data::local::SampleReader;

/// A valid file of a format.
pub struct Seed {
    /// The fuzz target that reads it.
    pub target: &'static str,
    /// What is special about it.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// All valid files.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add = |target, name, bytes| seeds.push(Seed { target, name, bytes });
    add("idx", "u8", idx_file(0x08, &[2, 3, 2], &[7; 12]));
    add("idx", "f32", idx_file(0x0d, &[2], &[0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]));
    add("idx", "gz", gzip(&idx_file(0x08, &[40, 10], &[9; 400])));
    add("npy", "f4", npy_file("<f4", false, "(2, 3)", &[1; 24]));
    add("npy", "fortran", npy_file(">i2", true, "(3, 2, 2)", &[3; 24]));
    add("npy", "text", npy_file("<U2", false, "(2,)", b"a\0\0\0b\0\0\0c\0\0\0\0\0\0\0"));
    add("npy", "gz", gzip(&npy_file("<f8", false, "(5, 4)", &[0; 160])));
    add("samples", "matrices", npy_file("<f4", false, "(5, 2, 3)", &[1; 120]));
    add("samples", "sequences", npy_file(">i2", false, "(3, 2, 2, 1)", &[3; 24]));
    add("samples", "fortran", npy_file("|u1", true, "(3, 2, 2)", &[3; 12]));
    add("samples", "gz", gzip(&npy_file("<f8", false, "(5, 2, 2)", &[0; 160])));
    add("npz", "stored", npz_file());
    add("npz", "deflated", zip_file(&[("x.npy", &npy_file("|u1", false, "(200,)", &[1; 200]))], true));
    add("matlab", "plain", matlab_file(false));
    add("matlab", "compressed", matlab_file(true));
    add("pickle", "lists", lists_pickle());
    add("pickle", "array", array_pickle());
    add("pickle", "csr", csr_pickle());
    let files: [(&str, &[u8]); 2] = [("a/one.txt", b"one"), ("a/two.txt", &[b'2'; 700])];
    add("archive", "tar", tar_file(&files));
    add("archive", "targz", gzip(&tar_file(&files)));
    add("archive", "tarxz", TAR_XZ.to_vec());
    add("archive", "zip", zip_file(&files, true));
    add("archive", "nested", zip_file(&[("inner.tar.gz", &gzip(&tar_file(&files)))], false));
    add("csv", "plain", b"# made\na,b\n1,2.5\n-3,4e1\n".to_vec());
    add("csv", "gz", gzip(b"1 2 3\n4 5 6\n"));
    for (name, format) in [
        ("png", image::ImageFormat::Png),
        ("jpeg", image::ImageFormat::Jpeg),
        ("gif", image::ImageFormat::Gif),
        ("bmp", image::ImageFormat::Bmp),
        ("pnm", image::ImageFormat::Pnm),
    ] {
        add("images", name, picture(format));
    }
    add("edgelist", "classes", b"a b\nb c\n\0a 1 0 red\nb 0 1 blue\nc 1 1 red\n".to_vec());
    add("edgelist", "names", b"from,to\n1,2\n\0id,f,class\n1,0.5,3\n2,1,4\n".to_vec());
    add("eeg", "gz", gzip(trial("co2a0000364", "S1 obj ,", 0, 1).as_bytes()));
    add("ts", "unequal", b"# made\n@equalLength false\n@data\n1,2.5:3,4:a\n-5:6e1:b\n".to_vec());
    add("ts", "values", b"@targetlabel true\n@data\n1,?,3:0.5\n2:7\n".to_vec());
    #[cfg(feature = "columnar")]
    for (name, codec) in parquet_codecs() {
        add("parquet", name, parquet_file(codec));
    }
    #[cfg(feature = "columnar")]
    for (name, codec) in ARROW_CODECS {
        add("arrow", name, arrow_file(codec));
    }
    add("table", "texts", b"when,a,b\n2016-07-01 00:00,1,\"x, y\"\n2016-07-02 00:00,?,z\n".to_vec());
    add("table", "semicolons", b"a;b;c\r\n1,5;true;7\r\n2;False;8\r\n".to_vec());
    add("table", "gz", gzip(b"1\t2\n3\t4\n"));
    add("wav", "mono", wav_file(1, 8000, &[1, -2, 300]));
    add("wav", "stereo", wav_file(2, 44_100, &[1, -2, 300, 7]));
    add("wav", "gz", gzip(&wav_file(1, 8000, &[5; 400])));
    add("stories", "story", b"1 Ann went home.\n2 Where is Ann? \thome\t1\n1 Bob slept.\n".to_vec());
    seeds
}

/// Reads a file the way its fuzz target does.
pub fn run(target: &str, bytes: &[u8]) -> Result<()> {
    match target {
        "idx" => idx::parse(Input::bytes("seed", bytes)?).map(drop),
        "npy" => npy::parse(Input::bytes("seed", bytes)?).map(drop),
        "samples" => {
            let mut reader = SampleReader::from_npy(Input::bytes("seed", bytes)?)?;
            while reader.next_chunk(2)?.is_some() {}
            Ok(())
        }
        "npz" => npz::parse("seed", bytes).map(drop),
        "matlab" => matlab::parse(Input::bytes("seed", bytes)?).map(drop),
        "pickle" => {
            let pickle = Pickle::parse("seed", bytes)?;
            let csr = pickle.root_csr().map(drop);
            let array = pickle.root_array().map(drop);
            csr.or(array).or(pickle.root_lists(|_, _| {}).map(drop))
        }
        "archive" => archive::each_bytes("seed", bytes, &mut visit),
        "csv" => csv::parse(Input::bytes("seed", bytes)?).map(drop),
        "images" => images::parse("seed", bytes).map(drop),
        "edgelist" => {
            let cut = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            let (edges, nodes) = (&bytes[..cut], bytes.get(cut + 1..).unwrap_or_default());
            edgelist::parse(Input::bytes_packed("seed", edges), Input::bytes_packed("seed", nodes)).map(drop)
        }
        "eeg" => {
            let mut text = Vec::new();
            let trial = eeg::unpack_trial(bytes, &mut text).and_then(eeg::parse_trial);
            trial.map(drop).map_err(|what| matnet_data::Error::format("seed", what))
        }
        "stories" => stories::parse("seed", bytes).map(drop),
        "ts" => ts::parse(Input::bytes("seed", bytes)?).map(drop),
        #[cfg(feature = "columnar")]
        "parquet" | "arrow" => {
            let found = matnet_data::format::columnar::ColumnarTable::parse("seed", bytes)?;
            let is_text = |column: &usize| found.head().kinds[*column] == table::ColumnKind::Text;
            let (texts, numbers): (Vec<usize>, Vec<usize>) = (0..found.head().names.len()).partition(is_text);
            found.read(&numbers, &texts).map(drop)
        }
        "table" => {
            let open = || Input::bytes("seed", bytes);
            let head = table::scan_input(open()?, table::TableNames::Detect)?;
            let is_text = |column: &usize| head.kinds[*column] == table::ColumnKind::Text;
            let (texts, numbers): (Vec<usize>, Vec<usize>) = (0..head.names.len()).partition(is_text);
            table::read_input(open()?, &head, &numbers, &texts).map(drop)
        }
        "wav" => wav::parse(Input::bytes("seed", bytes)?).map(drop),
        other => panic!("no target {other}"),
    }
}

/// Reads every entry, and archives inside to one level.
fn visit(entry: archive::ArchiveEntry) -> Result<()> {
    let mut input = entry.input;
    if archive::is_archive(&entry.name) {
        return archive::each_in(input, &mut |mut inner| inner.input.rest().map(drop));
    }
    input.rest().map(drop)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

pub fn idx_file(code: u8, sides: &[u32], body: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, code, sides.len() as u8];
    sides.iter().for_each(|side| file.extend(side.to_be_bytes()));
    file.extend(body);
    file
}

/// How Parquet files may be compressed, by name.
#[cfg(feature = "columnar")]
pub fn parquet_codecs() -> [(&'static str, ::parquet::basic::Compression); 4] {
    use ::parquet::basic::Compression;
    [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("lz4", Compression::LZ4_RAW),
    ]
}

/// How Arrow files may be compressed, by name.
#[cfg(feature = "columnar")]
pub const ARROW_CODECS: [(&str, Option<arrow_ipc::CompressionType>); 3] = [
    ("plain", None),
    ("lz4", Some(arrow_ipc::CompressionType::LZ4_FRAME)),
    ("zstd", Some(arrow_ipc::CompressionType::ZSTD)),
];

/// An Arrow file of the same three rows, and a column `kind` of categories; in two batches.
#[cfg(feature = "columnar")]
pub fn arrow_file(codec: Option<arrow_ipc::CompressionType>) -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    };
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let batch = |ids: &[&str], n: &[i64], x: &[Option<f64>], ok: &[bool]| {
        let kinds: DictionaryArray<Int8Type> = n.iter().map(|&n| if n > 0 { "up" } else { "down" }).collect();
        let columns: [(&str, ArrayRef); 5] = [
            ("id", Arc::new(StringArray::from(ids.to_vec()))),
            ("n", Arc::new(Int64Array::from(n.to_vec()))),
            ("x", Arc::new(Float64Array::from(x.to_vec()))),
            ("ok", Arc::new(BooleanArray::from(ok.to_vec()))),
            ("kind", Arc::new(kinds)),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
    };
    let batches = [
        batch(&["a", "b"], &[7, -1], &[Some(0.5), None], &[true, false]),
        batch(&["c"], &[7], &[Some(1.5)], &[true]),
    ];
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    writer.write(&batches[0]).unwrap();
    // A file cannot replace a dictionary, so the second batch uses that of the first.
    let kinds = batches[0].column(4).clone();
    let mut columns = batches[1].columns().to_vec();
    columns[4] = kinds.slice(0, 1);
    writer.write(&RecordBatch::try_new(batches[0].schema(), columns).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

/// A Parquet table of three rows: `id` (texts), `n` (integers), `x` (floats, one missing), `ok` (booleans).
#[cfg(feature = "columnar")]
pub fn parquet_file(codec: ::parquet::basic::Compression) -> Vec<u8> {
    use ::parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int64Type};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    let schema =
        "message t { required binary id (UTF8); required int64 n; optional double x; required boolean ok; }";
    let schema = std::sync::Arc::new(::parquet::schema::parser::parse_message_type(schema).unwrap());
    let properties = std::sync::Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    macro_rules! column {
        ($type:ty, $values:expr, $levels:expr) => {{
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<$type>().write_batch($values, $levels, None).unwrap();
            column.close().unwrap();
        }};
    }
    column!(ByteArrayType, &["a".into(), "b".into(), "c".into()], None);
    column!(Int64Type, &[7, -1, 7], None);
    column!(DoubleType, &[0.5, 1.5], Some(&[1, 0, 1]));
    column!(BoolType, &[true, false, true], None);
    group.close().unwrap();
    writer.close().unwrap();
    out
}

/// A `.wav` of 16-bit integers.
pub fn wav_file(channels: u16, rate: u32, values: &[i16]) -> Vec<u8> {
    let size = 2 * values.len() as u32;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + size).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate * 2 * u32::from(channels)).to_le_bytes());
    file.extend((2 * channels).to_le_bytes());
    file.extend(b"\x10\0data");
    file.extend(size.to_le_bytes());
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    file
}

pub fn npy_file(descr: &str, fortran: bool, shape: &str, body: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let head = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((head.len() as u16).to_le_bytes());
    file.extend(head.as_bytes());
    file.extend(body);
    file
}

fn npz_file() -> Vec<u8> {
    let mut writer = npz::NpzWriter::new(Vec::new());
    writer.add("x", |mut out| npy::write_f32(&mut out, &[2, 2], &[1.0, 2.0, 3.0, 4.0])).unwrap();
    writer.add("y", |mut out| npy::write_f32(&mut out, &[2], &[0.0, 1.0])).unwrap();
    writer.finish().unwrap()
}

pub fn zip_file(files: &[(&str, &[u8])], deflate: bool) -> Vec<u8> {
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in files {
        let path = rawzip::path::EntryPath::verbatim(name.as_bytes());
        if deflate {
            let method = rawzip::CompressionMethod::DEFLATE;
            let (mut entry, config) = zip.new_file(path).compression_method(method).start().unwrap();
            let packer = flate2::write::DeflateEncoder::new(&mut entry, Compression::best());
            let mut writer = config.wrap(packer);
            writer.write_all(bytes).unwrap();
            let (packer, descriptor) = writer.finish().unwrap();
            packer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        } else {
            let (mut entry, config) = zip.new_file(path).start().unwrap();
            let mut writer = config.wrap(&mut entry);
            writer.write_all(bytes).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
    }
    zip.finish().unwrap()
}

pub fn tar_file(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        tar.append(&tar_header(name, tar::EntryType::Regular, bytes.len() as u64), *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

/// A tar header with an unchecked name.
pub fn tar_header(name: &str, kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn matlab_file(compressed: bool) -> Vec<u8> {
    let word = u32::to_le_bytes;
    let mut inner: Vec<u8> = [6, 8, 9, 0, 5, 8, 2, 3, 2 << 16 | 1].into_iter().flat_map(word).collect();
    inner.extend(b"ff\0\0\x02\0\0\0\x06\0\0\0\x01\x04\x02\x05\x03\x06\0\0");
    let mut element = [word(14), word(inner.len() as u32)].concat();
    element.extend(inner);
    if compressed {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&element).unwrap();
        let packed = packer.finish().unwrap();
        element = [&word(15)[..], &word(packed.len() as u32), &packed].concat();
    }
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend(b"\0\x01IM");
    file.extend(element);
    file
}

/// {0: [1, 2], 1: [0], 2: [0]} as Planetoid's graphs are.
fn lists_pickle() -> Vec<u8> {
    b"\x80\x02ccollections\ndefaultdict\nq\x01c__builtin__\nlist\nq\x02\x85Rq\x03(K\x00]q\x04(K\x01K\x02e\
      K\x01]q\x05K\x00aK\x02]q\x06K\x00au."
        .to_vec()
}

/// A NumPy array of four-byte whole numbers, as protocol 2 writes it.
fn array_code(shape: &[u8], numbers: &[i32]) -> Vec<u8> {
    let mut code =
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\x01b\x87R(K\x01(".to_vec();
    shape.iter().for_each(|&side| code.extend([b'K', side]));
    code.extend(
        b"tcnumpy\ndtype\nU\x02i4K\0K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T",
    );
    code.extend((numbers.len() as u32 * 4).to_le_bytes());
    numbers.iter().for_each(|number| code.extend(number.to_le_bytes()));
    code.extend(b"tb");
    code
}

fn array_pickle() -> Vec<u8> {
    [b"\x80\x02".to_vec(), array_code(&[2, 2], &[1, 0, 0, 1]), b".".to_vec()].concat()
}

fn csr_pickle() -> Vec<u8> {
    let mut code =
        b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK\x02K\x03\x86U\x06indptr".to_vec();
    code.extend(array_code(&[3], &[0, 1, 2]));
    code.extend(b"U\x07indices");
    code.extend(array_code(&[2], &[2, 0]));
    code.extend(b"U\x04data");
    code.extend(array_code(&[2], &[5, 6]));
    code.extend(b"ub.");
    code
}

fn picture(format: image::ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let level = |x: u32, y: u32| image::Rgb([(x * 20) as u8, (y * 20) as u8, 90]);
    let colour = image::DynamicImage::ImageRgb8(image::ImageBuffer::from_fn(9, 7, level));
    colour.write_to(&mut out, format).unwrap();
    out.into_inner()
}

/// A trial in UCI's text, with sample `s` of channel `c` worth (`seed` + c − s) / 8.
pub fn trial(subject: &str, shown: &str, number: u32, seed: i32) -> String {
    let mut out = format!("# {subject}.rd\n# 120 trials, 64 chans, 416 samples 368 post_stim samples\n");
    out += &format!("# 3.906000 msecs uV\n# {shown} trial {number}\n");
    for channel in 0..64 {
        out += &format!("# C{channel} chan {channel}\n");
        for sample in 0..256 {
            let value = f64::from(seed + channel - sample) / 8.0;
            out += &format!("{number} C{channel} {sample} {value:.3}\n");
        }
    }
    out
}

/// A tar of two small files, compressed by xz with a dictionary of 4 KiB; no dependency can write one.
#[rustfmt::skip]
const TAR_XZ: [u8; 160] = [
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 0, 0, 0, 0, 55, 39, 151, 214,
    224, 13, 255, 0, 94, 93, 0, 48, 139, 201, 231, 35, 180, 216, 192, 72, 233, 19, 202, 150, 14, 2, 133, 219,
    156, 19, 151, 122, 81, 164, 71, 180, 131, 112, 81, 177, 101, 67, 221, 5, 31, 116, 148, 90, 220, 104, 101, 124,
    78, 125, 9, 180, 233, 92, 8, 89, 200, 180, 51, 213, 33, 222, 8, 140, 180, 55, 70, 56, 182, 108, 172, 181,
    172, 105, 217, 165, 195, 155, 9, 116, 23, 74, 56, 168, 239, 193, 247, 57, 132, 248, 115, 251, 135, 80, 74, 186,
    167, 2, 160, 196, 0, 0, 0, 0, 181, 233, 252, 14, 43, 242, 24, 248, 0, 1, 122, 128, 28, 0, 0, 0,
    207, 162, 197, 194, 177, 196, 103, 251, 2, 0, 0, 0, 0, 4, 89, 90,
];
