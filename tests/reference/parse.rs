//! From tokens to a tree, by recursive descent.

use super::glob;
use super::lex::Token;
use super::tree::{Expr, Fact, Method, Path, Pattern};
use super::verdict::{Error, Stage};

const MAX_DEPTH: usize = 128;
const MAX_PRIMITIVES: usize = 256;
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
const PRIMITIVES: [&str; 5] = ["grep", "count", "exists", "test", "run"];

pub(super) struct Parser<'a> {
    v2: bool,
    rest: &'a [Token],
    bangs: usize,
    groups: usize,
    primitives: usize,
}

/// Parses all tokens as one expression.
pub(super) fn expression(v2: bool, tokens: &[Token]) -> Result<Expr, Error> {
    let mut parser = Parser {
        v2,
        rest: tokens,
        bangs: 0,
        groups: 0,
        primitives: 0,
    };
    let expr = parser.or()?;
    if parser.rest.is_empty() {
        Ok(expr)
    } else {
        Err(refuse("more than one expression"))
    }
}

fn refuse(message: &str) -> Error {
    Error {
        stage: Stage::Parse,
        message: message.to_owned(),
    }
}

fn mistyped(message: &str) -> Error {
    Error {
        stage: Stage::Type,
        message: message.to_owned(),
    }
}

impl Parser<'_> {
    fn or(&mut self) -> Result<Expr, Error> {
        let mut operands = vec![self.and()?];
        while self.take("||") {
            operands.push(self.and()?);
        }
        Ok(if operands.len() == 1 {
            operands.remove(0)
        } else {
            Expr::Or(operands)
        })
    }

    fn and(&mut self) -> Result<Expr, Error> {
        let mut operands = vec![self.not()?];
        while self.take("&&") {
            operands.push(self.not()?);
        }
        Ok(if operands.len() == 1 {
            operands.remove(0)
        } else {
            Expr::And(operands)
        })
    }

    fn not(&mut self) -> Result<Expr, Error> {
        if self.take("!") {
            deeper(&mut self.bangs)?;
            let operand = self.not()?;
            self.bangs -= 1;
            return Ok(Expr::Not(Box::new(operand)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expr, Error> {
        let left = self.term()?;
        let Some(op) = COMPARISONS.into_iter().find(|op| self.take(op)) else {
            return Ok(left);
        };
        let right = self.term()?;
        if COMPARISONS.into_iter().any(|op| self.take(op)) {
            return Err(refuse("comparisons in a chain"));
        }
        Ok(Expr::Compare(op, Box::new(left), Box::new(right)))
    }

    fn term(&mut self) -> Result<Expr, Error> {
        let mut term = self.primary()?;
        while self.take(".") {
            let Some(Token::Word(name)) = self.next() else {
                return Err(refuse("no field after the dot"));
            };
            match name.as_str() {
                "passed" | "exit" | "stdout" | "stderr" | "lines" => {
                    term = Expr::Field(Box::new(term), name);
                }
                "contains" | "matches" | "starts_with" | "ends_with" => {
                    let method = method(&name, &self.arguments()?)?;
                    return Ok(Expr::Method(Box::new(term), method));
                }
                _ => return Err(refuse("no field")),
            }
        }
        Ok(term)
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        if self.v2 && self.take("(") {
            deeper(&mut self.groups)?;
            let inner = self.or()?;
            self.expect(")")?;
            self.groups -= 1;
            return Ok(inner);
        }
        match self.next() {
            Some(Token::Int(value)) => Ok(Expr::Int(value)),
            Some(Token::Str(value)) => Ok(Expr::Str(value)),
            Some(Token::Word(word)) if word == "true" => Ok(Expr::Bool(true)),
            Some(Token::Word(word)) if word == "false" => Ok(Expr::Bool(false)),
            Some(Token::Word(word)) if PRIMITIVES.contains(&word.as_str()) => {
                self.primitives += 1;
                if self.primitives > MAX_PRIMITIVES {
                    return Err(refuse("too many primitives"));
                }
                let arguments = self.arguments()?;
                Ok(Expr::Call(call(self.v2, &word, &arguments)?))
            }
            _ => Err(refuse("a term is wanted")),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Token>, Error> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            match self.next() {
                Some(token @ (Token::Int(_) | Token::Str(_) | Token::Regex { .. })) => {
                    arguments.push(token);
                }
                Some(Token::Word(word)) if word == "true" || word == "false" => {
                    arguments.push(Token::Word(word));
                }
                _ => return Err(refuse("arguments are literals")),
            }
            if !self.take(",") {
                self.expect(")")?;
                return Ok(arguments);
            }
        }
    }

    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first.clone())
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = self.rest.first() == Some(&Token::Symbol(symbol));
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Error> {
        if self.take(symbol) {
            Ok(())
        } else {
            Err(refuse("another symbol is wanted"))
        }
    }
}

/// `!` and parentheses have a limit each.
fn deeper(depth: &mut usize) -> Result<(), Error> {
    *depth += 1;
    if *depth > MAX_DEPTH {
        return Err(refuse("nested too deep"));
    }
    Ok(())
}

fn call(v2: bool, name: &str, arguments: &[Token]) -> Result<Fact, Error> {
    Ok(match (name, arguments) {
        ("grep", [found, place]) => {
            let pattern = pattern(found)?;
            if pattern.is_whole_file() {
                return Err(refuse("only `count` looks at whole files"));
            }
            Fact::Grep(pattern, path(v2, place)?)
        }
        ("count", [found, place]) => Fact::Count(pattern(found)?, path(v2, place)?),
        ("exists", [place]) => Fact::Exists(path(v2, place)?),
        ("test", [name]) => Fact::Test(text(name)?),
        ("run", [command]) => Fact::Run(text(command)?),
        _ => return Err(refuse("wrong number of arguments")),
    })
}

fn method(name: &str, arguments: &[Token]) -> Result<Method, Error> {
    let [argument] = arguments else {
        return Err(refuse("wrong number of arguments"));
    };
    Ok(match name {
        "contains" => Method::Contains(text(argument)?),
        "starts_with" => Method::StartsWith(text(argument)?),
        "ends_with" => Method::EndsWith(text(argument)?),
        _ => Method::Matches(pattern(argument)?),
    })
}

fn text(argument: &Token) -> Result<String, Error> {
    match argument {
        Token::Str(value) => Ok(value.clone()),
        _ => Err(mistyped("a string is wanted")),
    }
}

fn path(v2: bool, argument: &Token) -> Result<Path, Error> {
    let text = text(argument)?;
    let glob = v2 && glob::is_glob(&text);
    if glob && glob::compile(&text).is_none() {
        return Err(refuse("no glob"));
    }
    Ok(Path { text, glob })
}

fn pattern(argument: &Token) -> Result<Pattern, Error> {
    let (text, flags) = match argument {
        Token::Regex { text, flags } => (text.clone(), flags.clone()),
        Token::Str(value) => (value.clone(), String::new()),
        _ => return Err(mistyped("a pattern is wanted")),
    };
    let pattern = Pattern { text, flags };
    if pattern.text.len() > 4 << 10 {
        return Err(refuse("pattern too long"));
    }
    if pattern.is_regex() {
        Ok(pattern)
    } else {
        Err(refuse("no regex"))
    }
}
