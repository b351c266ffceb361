// The page of `mercer explore` in Chromium.

import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { idle, mercer, open, pixels, settled, startBrowser, startServer } from "./browser.mjs";

/** Tests wait for the page and the server most of the time, so several run at once, each on its own pages. */
const AT_ONCE = { concurrency: 4 };
/** Times of a build without optimization tell nothing. */
const MEASURED = process.env.MERCER_PROFILE !== "dev";

const run = promisify(execFile);
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let server;
let context;

before(async () => {
  server = await startServer();
  context = await startBrowser();
});

after(async () => {
  await context?.close();
  server?.stop();
});

describe("the page", AT_ONCE, () => {
  for (const part of [0, 1, 2, 3]) {
    test(`every preset renders, and its verdict is that of mercer check: part ${part + 1} of 4`, async () => {
      const page = await open(context, server.link);
      const presets = await page.$$eval("#preset option", (options) => options.map((option) => option.value).filter(Boolean));
      assert.ok(presets.length > 30);
      for (const preset of presets.filter((_, place) => place % 4 === part)) {
        const check = run(mercer, ["check", preset, "--json"]);
        // A verdict other than "proven" is a status other than 0.
        const printed = check.catch((error) => error).then(({ stdout }) => JSON.parse(stdout));
        await page.selectOption("#preset", preset);
        await page.waitForFunction((text) => document.getElementById("verdict").dataset.kernel === text && !document.getElementById("verdict").classList.contains("waiting"), preset);
        const shown = await page.$eval("#verdict", (verdict) => verdict.dataset.verdict);
        assert.equal(shown, (await printed).verdict, preset);
        assert.ok(await page.$("#typeset .katex"), preset);
        const evidence = await page.$eval("#evidence", (element) => element.textContent);
        if (shown === "proven") assert.match(evidence, /Proof/, preset);
        if (shown === "refuted") assert.match(evidence, /Counter-example/, preset);
        await idle(page);
        assert.deepEqual(page.problems, [], preset);
      }
      await page.close();
    });
  }

  test("dragging σ changes the boundary", async () => {
    const page = await open(context, server.link, "data=moons&kernel=rbf(sigma=0.5)");
    const first = await pixels(page);
    const box = await page.locator("#parameter-0").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await idle(page);
    assert.notEqual(await pixels(page), first);
    const text = await page.inputValue("#formula");
    assert.match(text, /^rbf\(sigma=[\d.]+\)$/);
    assert.notEqual(text, "rbf(sigma=0.5)");
    // The keyboard moves it as well.
    const second = await pixels(page);
    await page.focus("#parameter-0");
    for (let i = 0; i < 10; i += 1) await page.keyboard.press("ArrowLeft");
    await idle(page);
    assert.notEqual(await pixels(page), second);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("points that are drawn, moved and removed change the fit", async () => {
    const page = await open(context, server.link, "data=moons&n=30&tab=points");
    const first = await pixels(page);
    const rows = () => page.evaluate(() => decodeURIComponent(location.hash).match(/points=([^&]*)/)?.[1].split(";").length ?? 0);
    const box = await page.locator("#picture").boundingBox();
    await page.mouse.click(box.x + box.width * 0.93, box.y + box.height * 0.12);
    await idle(page);
    assert.equal(await rows(), 31);
    const second = await pixels(page);
    assert.notEqual(second, first);
    await page.mouse.move(box.x + box.width * 0.93, box.y + box.height * 0.12);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.3, { steps: 4 });
    await page.mouse.up();
    await idle(page);
    assert.equal(await rows(), 31);
    assert.notEqual(await pixels(page), second);
    await page.focus("#picture");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await idle(page);
    assert.equal(await rows(), 32);
    await page.keyboard.press("Delete");
    await idle(page);
    assert.equal(await rows(), 31);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("the link restores the state", async () => {
    const page = await open(context, server.link, "data=rings&n=80");
    await page.selectOption("#preset", "poly(degree=3, gamma=1, c=1)");
    await page.selectOption("#method", "logistic");
    await page.focus("#setting-lambda");
    for (let i = 0; i < 15; i += 1) await page.keyboard.press("ArrowRight");
    await idle(page);
    await page.locator("#formula").blur();
    await page.evaluate(() => document.activeElement.blur());
    const link = page.url();
    const other = await open(context, link.split("#")[0], link.split("#")[1]);
    for (const id of ["formula", "method", "setting-lambda", "data"]) assert.equal(await other.inputValue(`#${id}`), await page.inputValue(`#${id}`), id);
    assert.equal(await pixels(other), await pixels(page));
    await page.close();
    await other.close();
  });

  test("a bad formula shows its error at the character", async () => {
    const page = await open(context, server.link);
    await page.fill("#formula", "rbf(sigma=1) + foo");
    await page.waitForSelector("#formula-error:not([hidden])");
    assert.match(await page.textContent("#formula-error"), /Character 16: unknown name `foo`/);
    assert.equal(await page.getAttribute("#formula", "aria-invalid"), "true");
    await page.fill("#formula", "rbf(sigma=1)");
    await page.waitForSelector("#formula-error", { state: "hidden" });
    await idle(page);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("a formula that is no kernel is refused, and fitted where the user insists", async () => {
    const page = await open(context, server.link, "kernel=sigmoid(gamma=1, c=0)");
    await page.waitForSelector("#refused:not([hidden])");
    assert.match(await page.textContent("#refused"), /not a kernel/);
    await page.click("#refused button");
    await page.waitForSelector("#refused", { state: "hidden" });
    await idle(page);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  for (const [data, methods] of [["moons", ["svc", "logistic", "perceptron", "knn", "smoother", "one-class"]], ["blobs", ["svc", "logistic", "perceptron", "knn", "smoother"]], ["sine", ["ridge", "lms", "svr", "gp", "smoother", "knn"]], ["peaks", ["ridge", "lms", "svr", "smoother", "knn", "one-class"]]]) {
    test(`every method draws its data: ${data}`, async () => {
      for (const method of methods) {
        const page = await open(context, server.link, `data=${data}&method=${method}&n=60`);
        assert.equal(await page.inputValue("#method"), method);
        assert.ok(await page.isHidden("#refused"), method);
        assert.match(await page.textContent("#picture-text"), /Training/, method);
        assert.deepEqual(page.problems, [], method);
        await page.close();
      }
    });
  }

  test("steps of least mean squares and mistakes of the perceptron play", async () => {
    for (const state of ["data=sine&method=lms", "data=moons&method=perceptron&n=40"]) {
      const page = await open(context, server.link, state);
      await page.click("#film-play");
      await page.waitForFunction(() => Number(document.getElementById("film-step").value) > 2);
      assert.match(await page.textContent("#picture-text"), /epoch|mistake/);
      assert.deepEqual(page.problems, []);
      await page.close();
    }
  });

  for (const state of ["data=rings", "data=sine&kernel=linear", "data=blobs&kernel=matern(nu=1.5, length=auto)"]) {
    test(`every tab works: ${state}`, async () => {
      const page = await open(context, server.link, state);
      for (const tab of ["machinery", "compare", "tuning", "points", "leave"]) {
        await page.click(`#tab-${tab}`);
        await idle(page);
        assert.ok(await page.isVisible(`#panel-${tab}`));
      }
      assert.match(await page.textContent("#panel-leave"), /mercer fit/);
      await page.click("#tab-machinery");
      await idle(page);
      assert.match(await page.textContent("#panel-machinery"), /Effective dimension/);
      assert.deepEqual(page.problems, []);
      await page.close();
    });
  }

  test("pointing at a cell of the tuning map shows that model", async () => {
    const page = await open(context, server.link, "data=sine&tab=tuning");
    await page.waitForFunction(() => /The best/.test(document.getElementById("panel-tuning").textContent));
    const first = await page.inputValue("#formula");
    await page.locator("#panel-tuning canvas").hover({ position: { x: 200, y: 60 } });
    await idle(page);
    assert.notEqual(await page.inputValue("#formula"), first);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("a table is loaded in the browser, and files are saved", async () => {
    const page = await open(context, server.link, "tab=points");
    const folder = mkdtempSync(join(tmpdir(), "mercer-explore-"));
    const table = join(folder, "table.csv");
    const lines = Array.from({ length: 40 }, (_, i) => `${(i / 8).toFixed(3)},${Math.sin(i / 8).toFixed(3)},"${i % 2 ? "yes, sir" : "no"}"`);
    writeFileSync(table, `speed,force,broken\n${lines.join("\n")}\n`);
    await page.setInputFiles("#csv", table);
    await page.click("text=Use these columns");
    await idle(page);
    assert.match(decodeURIComponent(page.url()), /names=speed,force,broken/);
    assert.ok(await page.isHidden("#refused"));
    await page.click("#tab-leave");
    for (const [name, start] of [["points.csv", "speed,force,broken"], ["picture.svg", "<svg"], ["picture.html", "<!doctype html>"], ["model.mercer", ""]]) {
      const [saved] = await Promise.all([page.waitForEvent("download"), page.click(`[data-file="${name}"]`)]);
      assert.equal(saved.suggestedFilename(), name);
      const text = readFileSync(await saved.path(), "utf8");
      assert.ok(text.startsWith(start) && text.length > 100, name);
    }
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  test("an exported page needs no server", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "mercer-explore-")), "page.html");
    const made = spawnSync(mercer, ["explore", "--export", file, "--state", "data=rings&kernel=rbf(sigma=0.8)&method=perceptron"]);
    assert.equal(made.status, 0, String(made.stderr));
    const page = await open(context, pathToFileURL(file).href);
    const requests = [];
    page.on("request", (request) => { if (!/^(data|blob):/.test(request.url())) requests.push(request.url()); });
    assert.ok(await page.isVisible("#recorded"));
    assert.match(await page.textContent("#verdict"), /It is a kernel/);
    for (const tab of ["compare", "tuning", "points", "leave", "machinery"]) {
      await page.click(`#tab-${tab}`);
      await idle(page);
    }
    await page.click("#film-play");
    await page.waitForFunction(() => Number(document.getElementById("film-step").value) > 2);
    assert.deepEqual(requests, []);
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  for (const [width, theme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) {
    test(`axe-core finds nothing serious, and nothing is cut off at ${width} pixels, ${theme}`, async () => {
      for (const state of ["data=moons", "data=sine&kernel=exp(|x-z|^2/2)&tab=compare", "data=moons&method=perceptron&tab=tuning", "tab=points", "data=peaks&tab=leave"]) {
        const page = await context.newPage();
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: theme });
        await page.goto(`${server.link}#${state}`);
        await settled(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${state}: ${wide} pixels too wide`);
        // The page allows only its own scripts; scripts that the test evaluates are exempt.
        await page.evaluate(axeSource);
        const found = await page.evaluate(async () => (await window.axe.run()).violations.filter((own) => ["serious", "critical"].includes(own.impact)).map((own) => `${own.id}: ${own.nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`));
        assert.deepEqual(found, [], state);
        await page.close();
      }
    });
  }
});

test("how large and how fast: printed, and the size is bounded", async () => {
  const page = await context.newPage();
  let bytes = 0;
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (event) => { bytes += event.encodedDataLength; });
  const began = performance.now();
  await page.goto(server.link);
  await page.waitForFunction(() => Number(document.documentElement.dataset.drawn ?? 0) > 0);
  const first = performance.now() - began;
  await settled(page);
  if (MEASURED) console.log(`# first picture after ${first.toFixed(0)} ms; ${(bytes / 1000).toFixed(0)} kB in all`);
  assert.ok(bytes < 700_000);
  await page.close();
  const [rows, steps] = MEASURED ? [500, 60] : [60, 10];
  for (const state of [`data=moons&n=${rows}&method=svc&tab=leave`, `data=peaks&n=${rows}&method=ridge&tab=leave`, `data=moons&n=${rows}&method=logistic&tab=leave`]) {
    const slow = await open(context, server.link, state);
    await slow.evaluate(() => {
      window.latencies = [];
      document.addEventListener("modeldrawn", (event) => window.latencies.push(event.detail.milliseconds));
    });
    const box = await slow.locator("#parameter-0").boundingBox();
    await slow.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await slow.mouse.down();
    for (let i = 0; i <= steps; i += 1) {
      await slow.mouse.move(box.x + box.width * (0.3 + (0.4 * i) / steps), box.y + box.height / 2);
      await slow.waitForTimeout(60);
    }
    await slow.mouse.up();
    await idle(slow);
    const times = (await slow.evaluate(() => window.latencies)).sort((a, b) => a - b);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(part * times.length))]?.toFixed(0);
    if (MEASURED) console.log(`# ${state}: slider to picture ${at(0.5)} ms in the median, ${at(0.95)} ms at the 95th percentile, ${times.length} pictures`);
    assert.ok(times.length > 0);
    await slow.close();
  }
});
