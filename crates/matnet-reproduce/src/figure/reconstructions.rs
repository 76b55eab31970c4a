//! Inputs, targets, and the output of each net.

use matnet_cli::failure::Failure;
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile, png};
use matnet_train::Split;
use matnet_train::draw::tiles;
use matnet_train::task::TaskData;
use matnet_train::tasks::samples::SampleData;

use super::{Canvas, Content, Drawn, FigureSpec, Groups};
use crate::metric::mean;

/// Test images that are shown.
const SHOWN: usize = 12;

/// A grid for every column: the occluded images, the targets, the mean training image, and a row for each net, from its
/// first seed.
pub fn draw(canvas: &mut Canvas, figure: &FigureSpec) -> Result<Groups, Failure> {
    let mut groups = Vec::new();
    for (column, data) in canvas.columns(figure) {
        let mut grid = Grid::new(Colormap::Gray).with_range(ColorRange::Fixed(0.0, 1.0));
        let mut baseline: Option<MeanImage> = None;
        for (row, net) in canvas.rows(figure) {
            let Some(model) = canvas.model(column, row)? else { continue };
            let Some(samples) = model.dataset().downcast_ref::<SampleData>() else { continue };
            let all = model.examples(Split::Test);
            let every = (all.len() / SHOWN).max(1);
            let shown: Vec<usize> = all.iter().copied().step_by(every).take(SHOWN).collect();
            let Some(matrices) = model.matrices(&shown)? else { continue };
            let Some(input) = matrices.input else { continue };
            if baseline.is_none() {
                let mean = MeanImage::of(samples)?;
                grid = grid
                    .with_row("input", tiles(&input)?)
                    .with_row("target", tiles(&matrices.target)?)
                    .with_row("mean image", shown.iter().map(|_| mean.image.clone()));
                baseline = Some(mean);
            }
            grid = grid.with_row(&net.label, tiles(&matrices.output)?);
        }
        if let Some(MeanImage { loss, occluded_loss, .. }) = baseline {
            let occluded =
                occluded_loss.map_or(String::new(), |loss| format!(", {loss:.4} on the occluded pixels"));
            groups.push(vec![Drawn {
                name: canvas.name(&[&data.name, "reconstructions"]),
                caption: format!(
                    "{}: occluded test images, the targets, and the output of each net (first seed). The mean training image as a constant prediction has a loss of {loss:.4}{occluded}.",
                    data.label
                ),
                content: Content::Png(png(&grid.draw()?)?),
            }]);
        }
    }
    Ok(groups)
}

/// The best constant prediction, which a collapsed net gives: the mean training image, and its mean squared error on the
/// test split.
struct MeanImage {
    image: Tile,
    loss: f64,
    occluded_loss: Option<f64>,
}

impl MeanImage {
    fn of(data: &SampleData) -> Result<Self, Failure> {
        let [rows, cols] = data.sides();
        let train = data.split(Split::Train);
        let mut image = vec![0.0f32; rows * cols];
        for &example in train {
            let sample = data.inputs.sample(example);
            image.iter_mut().zip(sample.iter()).for_each(|(sum, x)| *sum += x / train.len() as f32);
        }
        let (mut whole, mut occluded) = (Vec::new(), Vec::new());
        for &example in data.split(Split::Test) {
            let occlusion = data.occlusions.as_ref().and_then(|occlusions| occlusions.of(example));
            for (entry, (x, mean)) in data.inputs.sample(example).iter().zip(&image).enumerate() {
                let square = Some(f64::from(x - mean).powi(2));
                whole.push(square);
                let inside =
                    occlusion.is_some_and(|occlusion| occlusion.contains(entry / cols, entry % cols));
                occluded.extend(inside.then_some(square));
            }
        }
        Ok(Self {
            image: Tile::new(rows, cols, image)?,
            loss: mean(whole.into_iter()).unwrap_or(f64::NAN),
            occluded_loss: mean(occluded.into_iter()),
        })
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};
    use matnet_data::catalog::Cache;

    use super::*;

    #[test]
    fn the_mean_image_is_that_of_the_training_split() {
        let data = |occlusion: &str| {
            let config = format!("source = 'faces'\nocclusion = {occlusion}");
            SampleData::load(&toml::from_str(&config).unwrap(), &Cache::new("not needed"), 1).unwrap()
        };
        let whole = data("[25, 25]");
        let found = MeanImage::of(&whole).unwrap();
        let split = |split| {
            let examples = whole.split(split);
            let values: Vec<f32> =
                examples.iter().flat_map(|&at| whole.inputs.sample(at).into_owned()).collect();
            Tensor::<3>::from_data(TensorData::new(values, [examples.len(), 25, 25]), &Device::default())
        };
        let loss =
            (split(Split::Test) - split(Split::Train).mean_dim(0)).square().mean().into_scalar::<f32>();
        assert!((found.loss - f64::from(loss)).abs() < 1e-6, "{} {loss}", found.loss);
        assert!((found.occluded_loss.unwrap() - found.loss).abs() < 1e-12, "everything is occluded");
        let small = MeanImage::of(&data("[5, 5]")).unwrap();
        assert_eq!(small.loss, found.loss);
        assert_ne!(small.occluded_loss, found.occluded_loss);
    }
}
