//! Deep networks whose input, hidden state, memory and output are all matrices.
