// The client: a token, tries with one Idempotency-Key, errors, and a function for each operation of operations.js.

import { OPERATIONS } from "./operations.js";

const AGAIN = new Set([429, 502, 503, 504]);
/** The only one of them that is sure to come before a request has had any effect. */
const REFUSED = 429;
/** Codes of failed connections, on which nothing was sent. */
const NOT_SENT = new Set(["ECONNREFUSED", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]);
const DEAD_TOKEN = new Set(["token_expired", "token_revoked", "invalid_token"]);
const FINAL = new Set(["delivered", "undelivered", "failed", "rejected", "expired", "canceled"]);
const RENEW_BEFORE = 60_000;
const LONGEST_WAIT = 30_000;

/**
 * The service answered with an error. `code` tells errors apart, `problem` is all that it said. A response that is not
 * the API's, such as a redirect or a proxy's page, has the code `unknown`.
 */
export class ApiError extends Error {
  constructor(status, problem) {
    super(`${status} ${problem.code}: ${problem.detail}`);
    this.name = "ApiError";
    this.status = status;
    this.code = problem.code;
    this.problem = problem;
  }
}

/** The JSON object of a response; null for anything else, such as a proxy's own page. */
const parsed = (text) => {
  try {
    const document = JSON.parse(text);
    return typeof document === "object" && !Array.isArray(document) ? document : null;
  } catch {
    return null;
  }
};

const notOurs = (response, text) =>
  `This response is not the API's: ${response.headers.get("Location") ?? text.slice(0, 200)}`;

/** What the promise leads to, unless the signal comes first. */
const unlessAborted = (promise, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal?.removeEventListener("abort", stop));
  });

const sleep = (milliseconds, signal) => {
  let timer;
  const pause = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return unlessAborted(pause, signal).finally(() => clearTimeout(timer));
};

export class Client {
  #url;
  #credentials;
  #tries;
  #timeout;
  #token = null;

  constructor({ url, apiKey, apiSecret, tries = 5, timeout = 30_000 }) {
    this.#url = url.replace(/\/+$/, "");
    this.#credentials = { api_key: apiKey, api_secret: apiSecret };
    this.#tries = tries;
    this.#timeout = timeout;
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      this[name] = (request = {}) => this.#request(operation, request);
    }
  }

  /** Wait until a message has a final status. */
  async wait(messageId, milliseconds = 60_000) {
    const deadline = Date.now() + milliseconds;
    for (let pause = 200; ; pause = Math.min(pause * 1.5, 5_000)) {
      const message = await this.getMessage({ path: { message_id: messageId } });
      if (FINAL.has(message.status)) return message;
      if (Date.now() + pause > deadline) throw new Error(`The message ${messageId} is still ${message.status}.`);
      await sleep(pause);
    }
  }

  /** Every entry of a list, page by page: `for await (const send of client.pages("listSends"))`. */
  async *pages(name, request = {}) {
    for (let cursor; cursor !== null; ) {
      const query = cursor === undefined ? request.query : { ...request.query, cursor };
      const page = await this[name]({ ...request, query });
      yield* page.data;
      cursor = page.next_cursor ?? null;
    }
  }

  async #request(operation, { path = {}, query = {}, body, key, signal }) {
    const filled = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name]));
    const asked = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== undefined));
    const headers = operation.keyed ? { "Idempotency-Key": key ?? crypto.randomUUID() } : {};
    if (operation.type !== null && body !== undefined) headers["Content-Type"] = operation.type;
    const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const target = this.#url + filled + (asked.size ? `?${asked}` : "");
    const effect = { mayBeDone: false };
    for (let renewed = false; ; renewed = true) {
      const authorized = { ...headers, Authorization: `Bearer ${await unlessAborted(this.#bearer(), signal)}` };
      try {
        return await this.#tried(target, operation.method, sent, authorized, { signal, effect });
      } catch (error) {
        if (renewed || error.status !== 401 || !DEAD_TOKEN.has(error.code)) throw error;
        this.#token = null;
      }
    }
  }

  async #bearer() {
    if (this.#token === null || Date.now() > (await this.#token).ends - RENEW_BEFORE) {
      this.#token = this.#exchange();
      this.#token.catch(() => (this.#token = null));
    }
    return (await this.#token).token;
  }

  async #exchange() {
    const { method, path } = OPERATIONS.createToken;
    const body = JSON.stringify(this.#credentials);
    const headers = { "Content-Type": "application/json" };
    const issued = await this.#tried(this.#url + path, method, body, headers, { repeatable: true });
    return { token: issued.access_token, ends: Date.now() + issued.expires_in * 1000 };
  }

  /**
   * A request that is not `repeatable` is tried again only if nothing was sent, or if it was refused with 429. `effect`
   * is what is known of its effect, over all tries.
   */
  async #tried(target, method, body, headers, { signal, repeatable, effect = { mayBeDone: false } }) {
    repeatable ??= method !== "POST" || "Idempotency-Key" in headers;
    void new Request(target, { method, body, headers });  // throws at once what fetch would throw at each try
    let wait = 500;
    for (let left = this.#tries - 1; ; left -= 1) {
      let problem;
      try {
        const limit = AbortSignal.timeout(this.#timeout);
        const ends = signal ? AbortSignal.any([signal, limit]) : limit;
        const response = await fetch(target, { method, body, headers, redirect: "manual", signal: ends });
        const text = await response.text();
        const document = parsed(text);
        if (response.ok && (document !== null || response.status === 204)) return document ?? undefined;
        const isGone = response.status === 404 && String(document?.code).endsWith("_not_found");
        if (method === "DELETE" && effect.mayBeDone && isGone) return {};
        problem = new ApiError(response.status, { code: "unknown", detail: notOurs(response, text), ...document });
        const mayPass = AGAIN.has(response.status) || document?.retryable === true;
        const retryAfter = 1000 * (Number(response.headers.get("Retry-After")) || 0);
        if (response.status === REFUSED ? retryAfter > LONGEST_WAIT : !(repeatable && mayPass)) throw problem;
        effect.mayBeDone ||= response.status !== REFUSED;
        wait = Math.max(wait, retryAfter);
      } catch (error) {
        if (error === problem || signal?.aborted) throw error;
        const isSent = !NOT_SENT.has(error.cause?.code);
        if (!repeatable && isSent) throw error;
        effect.mayBeDone ||= isSent;
        problem = error;
      }
      if (left <= 0) throw problem;
      await sleep(Math.min(wait, LONGEST_WAIT) * (1 + 0.3 * Math.random()), signal);
      wait *= 2;
    }
  }
}
