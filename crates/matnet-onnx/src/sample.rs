//! Nets on samples behind one interface, whatever their kind.

use std::any::Any;

use matnet::layer::{ClassHead, Head, MatrixHead};
use matnet::net::{AutoEncoder, FeedForward, ManyToOne, Seq2Seq, SequenceLabeller};

use crate::graph::{Graph, Value};
use crate::layer::HeadLayer;
use crate::net::{add_autoencoder, add_feedforward, add_labeller, add_many_to_one, add_seq2seq};

/// What a net returns for a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gives {
    /// Whether it is for each step, or for how many steps.
    pub time: Time,
    /// So many numbers, or the sides of a matrix.
    pub what: What,
}

/// The steps of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// One output for a sample.
    None,
    /// One for each step of the input.
    OfInput,
    /// So many.
    Fixed(usize),
}

/// One output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// So many scores or values.
    Numbers(usize),
    /// A matrix.
    Matrix([usize; 2]),
}

/// A net on matrices or sequences.
pub trait SampleNet {
    /// Whether it takes sequences.
    fn sequences(&self) -> bool;
    /// Rows and columns of an input matrix.
    fn input(&self) -> [usize; 2];
    /// What it returns.
    fn gives(&self) -> Gives;
    /// Adds its nodes to a graph; `mask` is true for the steps that count.
    fn add(&self, graph: &mut Graph, input: &Value, mask: Option<&Value>) -> Value;
}

/// What heads return.
pub trait HeadSize: Head + HeadLayer {
    fn what(&self) -> What;
}

impl HeadSize for ClassHead {
    fn what(&self) -> What {
        What::Numbers(self.map.weight.val().dims()[1])
    }
}

impl HeadSize for MatrixHead {
    fn what(&self) -> What {
        What::Matrix(self.shape)
    }
}

macro_rules! sample_net {
    ($net:ty $(, $head:ident)?; sequences $sequences:literal, gives $gives:expr, add $add:expr) => {
        impl $(<$head: HeadSize>)? SampleNet for $net {
            fn sequences(&self) -> bool {
                $sequences
            }

            fn input(&self) -> [usize; 2] {
                self.input
            }

            fn gives(&self) -> Gives {
                let gives: fn(&Self) -> (Time, What) = $gives;
                let (time, what) = gives(self);
                Gives { time, what }
            }

            fn add(&self, graph: &mut Graph, input: &Value, mask: Option<&Value>) -> Value {
                let add: fn(&mut Graph, &Self, &Value, Option<&Value>) -> Value = $add;
                add(graph, self, input, mask)
            }
        }
    };
}

sample_net!(FeedForward<T>, T; sequences false, gives |net| (Time::None, net.head.what()),
    add |graph, net, input, _| add_feedforward(graph, net, input));
sample_net!(AutoEncoder; sequences false, gives |net| (Time::None, What::Matrix(net.input)),
    add |graph, net, input, _| add_autoencoder(graph, net, input));
sample_net!(ManyToOne<T>, T; sequences true, gives |net| (Time::None, net.head.what()), add add_many_to_one);
sample_net!(SequenceLabeller<T>, T; sequences true, gives |net| (Time::OfInput, net.head.what()), add add_labeller);
sample_net!(Seq2Seq; sequences true, gives |net| (Time::Fixed(net.steps), net.head.what()), add add_seq2seq);

/// The net of a run, if it is one on samples. A new kind of net is one line here.
pub fn find(net: &dyn Any) -> Option<&dyn SampleNet> {
    fn is<N: SampleNet + 'static>(net: &dyn Any) -> Option<&dyn SampleNet> {
        net.downcast_ref::<N>().map(|net| net as &dyn SampleNet)
    }
    is::<FeedForward<ClassHead>>(net)
        .or_else(|| is::<FeedForward<MatrixHead>>(net))
        .or_else(|| is::<AutoEncoder>(net))
        .or_else(|| is::<ManyToOne<ClassHead>>(net))
        .or_else(|| is::<ManyToOne<MatrixHead>>(net))
        .or_else(|| is::<SequenceLabeller<ClassHead>>(net))
        .or_else(|| is::<SequenceLabeller<MatrixHead>>(net))
        .or_else(|| is::<Seq2Seq>(net))
}
