//! Summaries of nets: every parameter is counted once, the right ones are regularised, and costs add up.

mod common;

use burn::tensor::Device;
use common::sized;
use matnet::prelude::*;
use matnet::weights;

fn init<C: NetConfig>(config: &C) -> C::Net {
    config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap()
}

/// Checks a net against its stored weights; returns its rows.
fn check<C: NetConfig>(config: C, steps: usize) -> Vec<LayerSummary> {
    let net = init(&config);
    let rows = net.summary(steps);
    let stored = weights::named(&net);
    // Running statistics are stored, but not trained.
    let trained = stored.iter().filter(|(name, _)| !name.contains(".running_"));
    let parameters = rows.iter().map(|row| row.parameters).sum::<usize>();
    assert_eq!(parameters, trained.map(|(_, data)| data.num_elements()).sum::<usize>(), "{config:?}");
    assert_eq!(weights::count(&net), parameters, "{config:?}");
    // The maps are regularised, but not the exchange between the heads of an end-to-end memory network.
    let is_weight = |name: &&str| name.ends_with("_map") || name.ends_with("weight");
    let mut expected: Vec<&str> = stored.iter().map(|(name, _)| name.as_str()).filter(is_weight).collect();
    expected.sort_unstable();
    let regularizer = Regularizer::new(&rows, 0.1, 0.2);
    assert_eq!(regularizer.names().collect::<Vec<_>>(), expected, "{config:?}");
    let named: usize = rows.iter().map(|row| row.regularized.len()).sum();
    assert_eq!(named, expected.len(), "{config:?}: a weight is named twice");
    // Rows have stored names, in the order of the stored weights.
    let place = |row: &LayerSummary| {
        let own = |(name, _): &(String, _)| {
            *name == row.name || name.rsplit_once('.').is_some_and(|(layer, _)| layer == row.name)
        };
        stored.iter().position(own).unwrap_or_else(|| panic!("{config:?}: no weights of {}", row.name))
    };
    assert!(rows.iter().map(place).is_sorted(), "{config:?}");
    rows
}

#[test]
fn every_net_counts_its_parameters_and_names_its_weights() {
    for (form, hidden) in [(Form::Matrix, vec![4, 3]), (Form::Vector, vec![7])] {
        for skip in [Skip::None, Skip::Gated, Skip::Highway, Skip::Residual, Skip::Dense] {
            for (batch_norm, tied) in [(false, false), (true, false), (false, true), (true, true)] {
                let config = FeedForwardConfig::new([6, 5], hidden.clone(), 3).with_form(form);
                let config = config.with_depth(Some(4)).with_skip(skip).with_batch_norm(batch_norm);
                check(config.with_tied(tied), 1);
            }
        }
        check(FeedForwardConfig::new([6, 5], hidden.clone(), [2, 3]).with_form(form), 1);
        check(AutoEncoderConfig::new([6, 5], hidden.clone(), 4).with_form(form), 1);
        for cell in [CellKind::Rnn, CellKind::Lstm, CellKind::Gru] {
            let config = SequenceClassifierConfig::new([6, 5], hidden.clone(), 3).with_form(form);
            check(config.with_cell(cell).with_layers(2).with_projection(Some(hidden.clone())), 5);
            let config = SequenceRegressorConfig::new([6, 5], hidden.clone(), [2, 3]).with_form(form);
            check(config.with_cell(cell).with_projection(Some(hidden.clone())), 5);
            let config = SequenceLabellerConfig::new([6, 5], hidden.clone(), 3).with_form(form);
            check(config.with_cell(cell).with_bidirectional(true), 5);
            let config = SequenceLabellerConfig::new([6, 5], hidden.clone(), [2, 3]).with_form(form);
            check(config.with_cell(cell), 5);
            check(Seq2SeqConfig::new([6, 5], hidden.clone(), 2).with_form(form).with_cell(cell), 5);
        }
        for controller in [ControllerKind::Feedforward, ControllerKind::Lstm] {
            let config = TuringMachineConfig::new([2, 5], hidden.clone(), [1, 3]).with_form(form);
            check(config.with_controller(controller).with_read_heads(2).with_slots(9), 5);
        }
    }
    for aggregation in [Aggregation::Mean, Aggregation::Attention, Aggregation::Concat] {
        for tied in [false, true] {
            let config = ColumnNetConfig::new(6, 5, 3).with_aggregation(aggregation).with_tied(tied);
            check(sized(config.with_num_relations(2), 3, 4), 1);
        }
    }
    check(GcnConfig::new(6, [5, 4], 3), 1);
    check(ChebyshevNetConfig::new(6, [5, 4], 3).with_order(3), 1);
    for tying in [Tying::Adjacent, Tying::LayerWise] {
        for heads in [1, 3] {
            let config = EndToEndConfig::new(20, 6, 8).with_tying(tying).with_heads(heads);
            check(config.clone(), 1);
            check(config.with_temporal_encoding(false), 1);
        }
    }
    check(MemoryNetworkConfig::new(20, 6, 8).with_hops(2), 1);
}

#[test]
fn a_deep_net_is_the_sum_of_its_layers() {
    let config = FeedForwardConfig::new([28, 28], [20, 20], 10).with_depth(Some(30));
    let rows = check(config.clone(), 1);
    assert_eq!(rows.len(), 31);
    assert_eq!(rows[0].shapes, Some(([28, 28], [20, 20])));
    assert_eq!(rows[0].flops, 2 * (20 * 28 * 28 + 20 * 28 * 20));
    assert_eq!(rows.chunk_by(LayerSummary::alike).map(<[_]>::len).collect::<Vec<_>>(), [1, 29, 1]);
    // The vector net of as many units, built.
    let mut twin = config.with_form(Form::Vector);
    twin.hidden = [400].into();
    assert_eq!(
        rows.iter().map(|row| row.vector_parameters).sum::<u64>(),
        weights::count(&init(&twin)) as u64
    );
}

#[test]
fn time_steps_and_tied_layers_count() {
    let config = SequenceClassifierConfig::new([6, 5], [4, 3], 2);
    let mut twin = config.clone().with_form(Form::Vector);
    twin.hidden = vec![12];
    let rows = check(config, 7);
    assert_eq!((rows[0].name.as_str(), rows[0].kind), ("recurrent.layer.0", "matrix LSTM cell"));
    assert_eq!((rows[0].uses, rows[1].uses), (7, 1));
    let built = check(twin, 7);
    assert_eq!(rows[0].vector_parameters, built[0].parameters as u64);
    assert_eq!(built[0].flops, 7 * 2 * 4 * 12 * (30 + 12));
    let tied = FeedForwardConfig::new([4, 4], [3, 3], 2).with_depth(Some(9)).with_tied(true);
    assert_eq!(check(tied, 1)[1].uses, 8);
    let tied = ColumnNetConfig::new(6, 5, 3).with_depth(4).with_tied(true);
    let rows = check(tied.with_aggregation(Aggregation::Attention), 1);
    assert_eq!(rows.iter().map(|row| row.uses).collect::<Vec<_>>(), [1, 4, 4, 1]);
    let rows = check(AutoEncoderConfig::new([6, 5], [4, 3], 2), 1);
    assert_eq!(rows.iter().map(|row| row.uses).collect::<Vec<_>>(), [2, 1]);
    let rows = check(Seq2SeqConfig::new([6, 5], [4, 3], 2), 5);
    assert_eq!(rows.iter().map(|row| row.uses).collect::<Vec<_>>(), [5, 2, 2]);
    let machine = TuringMachineConfig::new([2, 5], [4, 3], [1, 3]);
    assert!(check(machine, 5).iter().all(|row| row.uses == 5));
}

#[test]
fn memory_nets_count_a_full_memory() {
    let flops = |rows: Vec<LayerSummary>| rows.iter().map(|row| row.flops).sum::<u64>();
    let config = EndToEndConfig::new(20, 6, 8).with_memory_size(10).with_hops(2).with_heads(3);
    // Three tables of ten sentences of six words, then two hops of three heads that score and read.
    assert_eq!(flops(check(config.clone(), 1)), 2 * 10 * 8 * (6 * 3 + 2 * 2 * 3));
    let rows = check(config.clone(), 1);
    assert_eq!(rows[1].flops, 2 * 10 * 8 * (6 + 2 * 3));
    assert_eq!(flops(check(config.with_tying(Tying::LayerWise), 1)), 2 * 10 * 8 * (6 * 2 + 2 * 2 * 3));
    let config = MemoryNetworkConfig::new(20, 6, 8).with_memory_size(10).with_hops(2);
    assert_eq!(flops(check(config, 1)), 2 * 10 * 8 * (6 * 3 + 2));
}

#[test]
fn regularisation_can_be_limited_to_a_layer() {
    let net = init(&GcnConfig::new(6, [5], 3));
    let regularizer = Regularizer::new(&net.summary(1), 0.1, 0.2).only("layer.0");
    assert_eq!(regularizer.names().collect::<Vec<_>>(), ["layer.0.weight"]);
    let weight = net.layer[0].map.map.weight.val();
    let expected = weight.clone().abs().sum() * 0.1 + weight.square().sum() * 0.2;
    let loss = regularizer.loss(&net).unwrap().into_scalar::<f32>();
    assert!((loss - expected.into_scalar::<f32>()).abs() < 1e-6);
    assert!(Regularizer::new(&net.summary(1), 0.0, 0.0).loss(&net).is_none());
    assert!(Regularizer::new(&net.summary(1), 0.1, 0.0).only("nothing").loss(&net).is_none());
}
