//! Analytic against numeric gradients, in f64, over many random shapes.

mod common;

use common::{between, check_function, values, weigh};
use matnet::ops::{Activation, mat1};
use matnet::random::Stream;

#[test]
fn the_helper_agrees_with_mat1() {
    let mut stream = Stream::new(0, "mat1");
    for shape in 0..100 {
        let [batch, r, c, r2, c2] = [4, 7, 7, 7, 7].map(|high| between(&mut stream, 1, high));
        let inputs = [batch * r * c, r * r2, c * c2, r2 * c2].map(|n| values(&mut stream, n));
        let activation = [Activation::Relu, Activation::Tanh, Activation::Sigmoid][shape % 3];
        check_function(&format!("mat1 {batch}×{r}×{c}→{r2}×{c2}"), &inputs, |leaves| {
            let [x, u, v, b] = [0, 1, 2, 3].map(|i| leaves[i].clone());
            let x = x.reshape([batch, r, c]);
            weigh(mat1(x, u.reshape([r, r2]), v.reshape([c, c2]), Some(b.reshape([r2, c2])), activation))
        });
    }
}
