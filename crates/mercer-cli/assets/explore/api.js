import { snapshot } from "./state.js";

// Requests to the server. Each channel has one request in progress and at most one waiting, the newest. A request that takes long is
// replaced, and the server stops its work; the next one is not, so that pictures still appear while a slider keeps moving.

const recordedPicture = window.mercerRecorded ?? null;
const pageName = Math.random().toString(36).slice(2);
const OVERTAKE = 400;

let turn = 0;
const channels = new Map();

/** Whether the page is a recorded picture without a server. */
export function isRecorded() {
  return recordedPicture !== null;
}

/** The state of a recorded picture. */
export function recordedState() {
  return recordedPicture.state;
}

/** An answer that contains an error instead of a result. */
export class Refused extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint ?? null;
  }
}

async function send(request, channel, state, body) {
  const reply = await fetch(`api/${request}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page: pageName, channel, turn: (turn += 1), state }),
  });
  if (!reply.ok) throw new Refused(`the server answered ${reply.status}`);
  if (body === "blob" && reply.headers.get("Content-Type") !== "application/json") return reply.blob();
  const answer = await reply.json();
  if (answer.superseded) return null;
  if (answer.error) throw new Refused(answer.error, answer.hint);
  return answer;
}

/** Requests a document and passes it to `done`, or the error to `failed`. A newer request on the channel replaces this one. */
export function ask(request, done, failed, { more = {}, channel = request } = {}) {
  if (isRecorded()) {
    const answer = recordedPicture.answers[request];
    queueMicrotask(() => (answer && !answer.error ? done(answer) : failed(new Refused(answer?.error ?? "not recorded", answer?.hint))));
    return;
  }
  const job = { request, done, failed, more, channel };
  const line = channels.get(channel) ?? { running: null, waiting: null, since: 0, overtaken: false };
  channels.set(channel, line);
  if (line.running && (line.overtaken || performance.now() - line.since < OVERTAKE)) {
    line.waiting = job;
    return;
  }
  line.overtaken = line.running !== null;
  start(line, job);
}

async function start(line, job) {
  line.running = job;
  line.waiting = null;
  line.since = performance.now();
  let finish = () => {};
  try {
    const answer = await send(job.request, job.channel, snapshot(job.more));
    if (answer !== null) finish = () => job.done(answer);
  } catch (error) {
    finish = () => job.failed(error instanceof Refused ? error : new Refused("the server does not answer: is `mercer explore` still running?"));
  }
  if (line.running !== job) return;
  line.running = null;
  line.overtaken = false;
  const next = line.waiting;
  if (next) start(line, next);
  finish();
}

/** Whether no request is in progress. */
export function isIdle() {
  return [...channels.values()].every((line) => line.running === null);
}

/** Requests a file. */
export function fetchFile(request, more) {
  return send(request, request, snapshot(more), "blob");
}
