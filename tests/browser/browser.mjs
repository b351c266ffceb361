// A server and a browser for the tests.

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const mercer = process.env.MERCER_CLI ?? "mercer";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Starts `mercer explore`; `link` is the address of its page. */
export async function startServer(...more) {
  const child = spawn(mercer, ["explore", "--quiet", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const link = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.on("exit", (code) => reject(new Error(`mercer explore ended with ${code}`)));
  });
  return { link, stop: () => child.kill() };
}

/** Starts Chromium with a separate profile. */
export async function startBrowser(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "mercer-chromium-"));
  return chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS, viewport: { width: 1280, height: 900 }, ...options });
}

/** Opens the page in a state; `page.problems` collects the errors of its console. */
export async function open(context, link, state = "") {
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") page.problems.push(message.text()); });
  page.on("pageerror", (error) => page.problems.push(error.message));
  await page.goto(state ? `${link}#${state}` : link);
  await settled(page);
  return page;
}

/** Waits until the page has drawn its model and is idle. */
export async function settled(page) {
  await page.waitForFunction(() => Number(document.documentElement.dataset.drawn ?? 0) > 0);
  await idle(page);
}

/** Waits until no request has been in progress for 180 ms, which is longer than the page's own delays. */
export async function idle(page) {
  await page.evaluate(async () => {
    const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });
    for (let calm = 0; calm < 9;) {
      await pause(20);
      calm = window.mercerIdle() ? calm + 1 : 0;
    }
  });
}

/** The pixels of the picture. */
export function pixels(page, id = "picture") {
  return page.evaluate((canvas) => document.getElementById(canvas).toDataURL(), id);
}
