//! A batch of stories and questions as word numbers.

/// A batch of stories, each with a question. Words are numbers from 1; 0 is padding.
///
/// ```
/// use matnet::net::Stories;
///
/// // "Anna ran home. Boris slept. Who slept?" and "Clara sang. Who sang?"
/// let mut stories = Stories::default();
/// stories.push([&[1, 2, 3][..], &[4, 5]], &[6, 5]);
/// stories.push([&[7, 8]], &[6, 8]);
/// let padded = [1, 2, 3, 4, 5, 0, 7, 8, 0, 0, 0, 0];
/// assert_eq!(stories, Stories::from_padded([2, 2, 3], &padded, &[6, 5, 6, 8]));
/// assert_eq!((stories.len(), stories.longest()), (2, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stories {
    /// The words of all sentences, one after another.
    words: Vec<u32>,
    /// Where each sentence ends among them.
    sentences: Vec<usize>,
    /// Where each story ends among the sentences.
    stories: Vec<usize>,
    asked: Vec<u32>,
    /// Where each question ends among their words.
    questions: Vec<usize>,
}

impl Stories {
    /// Adds a story and its question.
    pub fn push<S: AsRef<[u32]>>(&mut self, sentences: impl IntoIterator<Item = S>, question: &[u32]) {
        let known = |words: &[u32]| words.iter().copied().filter(|&word| word > 0).collect::<Vec<_>>();
        for sentence in sentences {
            self.words.extend(known(sentence.as_ref()));
            self.sentences.push(self.words.len());
        }
        self.stories.push(self.sentences.len());
        self.asked.extend(known(question));
        self.questions.push(self.asked.len());
    }

    /// Words `[batch, sentences, words]` and questions `[batch, words]`, padded with 0. Sentences of zeros at the end of a story
    /// are padding too.
    ///
    /// # Panics
    ///
    /// If the numbers do not fill the shape, or the questions are not of one length.
    pub fn from_padded([batch, sentences, width]: [usize; 3], words: &[u32], questions: &[u32]) -> Self {
        assert_eq!(words.len(), batch * sentences * width, "stories: as many words as the shape has places");
        assert!(batch > 0 && questions.len().is_multiple_of(batch), "stories: a question for each");
        let mut all = Self::default();
        for (at, question) in questions.chunks(questions.len() / batch).enumerate() {
            let story = &words[at * sentences * width..(at + 1) * sentences * width];
            let lines: Vec<&[u32]> = story.chunks(width.max(1)).collect();
            let there =
                lines.iter().rposition(|line| line.iter().any(|&word| word > 0)).map_or(0, |at| at + 1);
            all.push(&lines[..there], question);
        }
        all
    }

    /// How many stories.
    pub fn len(&self) -> usize {
        self.stories.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stories.is_empty()
    }

    /// The number of sentences of the longest story.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|story| self.count(story)).max().unwrap_or(0)
    }

    /// The number of sentences of a story.
    pub(crate) fn count(&self, story: usize) -> usize {
        self.stories[story] - self.first(story)
    }

    fn first(&self, story: usize) -> usize {
        if story == 0 { 0 } else { self.stories[story - 1] }
    }

    /// The words of a sentence, numbered from 0.
    pub(crate) fn sentence(&self, story: usize, sentence: usize) -> impl Iterator<Item = u32> {
        part(&self.words, &self.sentences, self.first(story) + sentence)
    }

    /// The words of a question, numbered from 0.
    pub(crate) fn question(&self, story: usize) -> impl Iterator<Item = u32> {
        part(&self.asked, &self.questions, story)
    }

    /// The largest word number.
    pub(crate) fn largest(&self) -> u32 {
        self.words.iter().chain(&self.asked).copied().max().unwrap_or(0)
    }
}

/// The words from the end of the part before to `ends[at]`, numbered from 0.
fn part(words: &[u32], ends: &[usize], at: usize) -> impl Iterator<Item = u32> {
    let first = if at == 0 { 0 } else { ends[at - 1] };
    words[first..ends[at]].iter().map(|&word| word - 1)
}
