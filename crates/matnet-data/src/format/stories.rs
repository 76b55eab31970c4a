//! Stories with questions as text, numbered as in bAbI or plain.
//!
//! In bAbI's text a line is a number and a sentence, or a number, a question, its answer and the numbers of the supporting sentences,
//! separated by tabs. The numbers restart at 1 with every story. A question without an answer ends in a question mark. Plain text has one
//! sentence or question per line, no numbers, and an empty line between stories.

use std::path::Path;

use crate::format::bounded::Input;
use crate::{Error, Question, Result, Story};

/// Reads a file of stories, numbered or plain.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Story>> {
    let path = path.as_ref();
    let bytes = Input::open(path)?.rest()?;
    let numbered = bytes.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    let stories = if numbered { parse(path, &bytes)? } else { parse_plain(path, &bytes)? };
    match stories.iter().any(|story| !story.questions.is_empty()) {
        true => Ok(stories),
        false => Err(Error::format(path, "has no question; a line that ends in ? is one")),
    }
}

/// Reads plain stories; `name` is used in errors. An answer may follow a question after a tab.
pub fn parse_plain(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Vec<Story>> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::format(name.as_ref(), "is not UTF-8"))?;
    let mut stories = vec![Story::default()];
    for line in text.lines().map(str::trim) {
        let story = stories.last_mut().expect("there is always one");
        if line.is_empty() {
            if *story != Story::default() {
                stories.push(Story::default());
            }
            continue;
        }
        match line.split_once('\t') {
            None if !line.ends_with('?') => story.sentences.push(line.to_owned()),
            parts => {
                let (text, answer) = parts.unwrap_or((line, ""));
                let (text, answer) = (text.trim().to_owned(), answer.trim().to_owned());
                let after = story.sentences.len();
                story.questions.push(Question { text, answer, after, facts: Vec::new() });
            }
        }
    }
    stories.retain(|story| *story != Story::default());
    Ok(stories)
}

/// Reads numbered stories; `name` is used in errors.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Vec<Story>> {
    let name = name.as_ref();
    let text = std::str::from_utf8(bytes).map_err(|_| Error::format(name, "is not UTF-8"))?;
    let mut stories: Vec<Story> = Vec::new();
    // the sentence of each line of the story; none for a question
    let mut lines: Vec<Option<usize>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: String| Error::format(name, format!("line {}: {what}", at + 1));
        if line.trim().is_empty() {
            continue;
        }
        let (number, rest) = line.trim_start().split_once(' ').ok_or_else(|| wrong("no sentence".into()))?;
        let number: usize = number.parse().map_err(|_| wrong(format!("{number:?} is not a line number")))?;
        if number == 1 {
            stories.push(Story::default());
            lines.clear();
        }
        let Some(story) = stories.last_mut().filter(|_| number == lines.len() + 1) else {
            return Err(wrong(format!("number {number} where {} or 1 was expected", lines.len() + 1)));
        };
        let mut parts = rest.split('\t');
        let text = parts.next().unwrap_or_default().trim().to_owned();
        let answer = match parts.next() {
            Some(answer) => answer,
            None if text.ends_with('?') => "",
            None => {
                lines.push(Some(story.sentences.len()));
                story.sentences.push(text);
                continue;
            }
        };
        let mut facts = Vec::new();
        for fact in parts.next().unwrap_or_default().split_whitespace() {
            let line = fact.parse::<usize>().ok().and_then(|n| *lines.get(n.checked_sub(1)?)?);
            facts.push(
                line.ok_or_else(|| wrong(format!("supporting fact {fact:?} is not an earlier sentence")))?,
            );
        }
        lines.push(None);
        let after = story.sentences.len();
        story.questions.push(Question { text, answer: answer.trim().to_owned(), after, facts });
    }
    Ok(stories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_questions_and_facts() {
        let text =
            "1 Ann went home.\n2 Where is Ann? \thome\t1\n3 Bob slept.\n4 Who slept?\tBob,Ann\t3 1\n1 New.\n";
        let stories = parse("t", text.as_bytes()).unwrap();
        assert_eq!(stories.len(), 2);
        assert_eq!(stories[0].sentences, ["Ann went home.", "Bob slept."]);
        let [first, second] = &stories[0].questions[..] else { panic!("two questions expected") };
        assert_eq!((first.text.as_str(), first.answer.as_str(), first.after), ("Where is Ann?", "home", 1));
        assert_eq!((&first.facts[..], &second.facts[..], second.after), (&[0][..], &[1, 0][..], 2));
        assert_eq!(crate::tokenize("Where is Ann?").collect::<Vec<_>>(), ["where", "is", "ann"]);
    }

    #[test]
    fn questions_without_answers_and_plain_stories() {
        let stories = parse("t", b"1 Ann went home.\n2 Where is Ann?\n3 Bob slept.\n").unwrap();
        assert_eq!((stories[0].sentences.len(), stories[0].questions[0].answer.as_str()), (2, ""));
        let plain = "Ann went home.\nWhere is Ann?\n\n\nBob slept.\nWho slept?\tBob\nAnn ran.\n";
        let stories = parse_plain("t", plain.as_bytes()).unwrap();
        assert_eq!(stories.len(), 2);
        let question = &stories[1].questions[0];
        assert_eq!(
            (question.text.as_str(), question.answer.as_str(), question.after),
            ("Who slept?", "Bob", 1)
        );
        assert_eq!(stories[1].sentences, ["Bob slept.", "Ann ran."]);
        assert!(parse_plain("t", b"\n \n").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse("t", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("1 A.\n3 B.\n"), "t: line 2: number 3 where 2 or 1 was expected");
        assert_eq!(
            error("1 A.\n2 B?\tx\t2\n"),
            "t: line 2: supporting fact \"2\" is not an earlier sentence"
        );
        assert_eq!(error("x y\n"), "t: line 1: \"x\" is not a line number");
    }
}
