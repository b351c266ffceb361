//! `mercer explore`: a page for exploring kernels and models, served from this machine.

mod api;
mod assets;
mod compare;
mod data_sets;
mod export;
mod gram;
mod http;
mod lift;
mod picture;
mod points;
mod prepared;
mod reproduce;
mod server;
mod spectral;
mod state;
mod steps;
mod tex;
mod tuning;
mod turns;
mod verdict;

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use mercer::data::write_atomically;
use serde_json::json;

use crate::args::Explore;
use crate::failure::Failure;
use crate::output;

use api::Explorer;
use server::Server;
use state::State;
use turns::Job;

/// Serves the page until Ctrl-C, or writes one picture.
pub fn run(arguments: &Explore) -> Result<(), Failure> {
    let state = State::of_link(&arguments.state)?;
    if let Some(path) = &arguments.export {
        let inputs: Vec<&std::path::Path> = arguments.data.iter().map(|path| &**path).collect();
        output::check_output(path, &inputs)?;
        let page = export::page(&Explorer::new(arguments)?, &state, &Job::alone())?;
        write_atomically(path, |file| file.write_all(page.as_bytes()))?;
        let (name, bytes) = (path.display().to_string(), page.len());
        let lines = [("wrote", format!("{name}: {}", mercer::memory::human(bytes as u64)))];
        return output::report(&arguments.common, &json!({"output": name, "bytes": bytes}), &lines);
    }
    let server = Server::new(Explorer::new(arguments)?, arguments.port)?;
    let mut link = server.link();
    if !arguments.state.is_empty() {
        let after = arguments.state.rsplit_once('#').map_or(&*arguments.state, |(_, after)| after);
        link = format!("{link}#{after}");
    }
    if arguments.common.json {
        output::print_json(&json!({"link": link}))?;
    } else {
        let told = writeln!(io::stdout(), "{link}");
        told.and_then(|()| io::stdout().flush()).map_err(|error| Failure::stdout(&error))?;
        output::note(&arguments.common, "the page is served from this machine until Ctrl-C");
    }
    if io::stdout().is_terminal() && !arguments.common.quiet {
        open(&link);
    }
    server.serve()
}

/// Opens a link in the user's browser, if one is found.
fn open(link: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    // Without a browser the user opens the printed link.
    let _ = Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
