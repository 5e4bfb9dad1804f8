import type { Error as Problem, Message, Operations } from "./schema.js";

export * from "./schema.js";

/**
 * The service answered with an error. `code` tells errors apart, `problem` is all that it said. A response that is not
 * the API's, such as a redirect or a proxy's page, has the code `unknown`.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Problem;
}

export interface Options {
  /** Address of the service, such as https://sms.example.com. */
  url: string;
  apiKey: string;
  apiSecret: string;
  /** Tries of each request; all of them have one Idempotency-Key. */
  tries?: number;
  /** Milliseconds of one try. */
  timeout?: number;
}

type Entry<T> = T extends (...given: never[]) => Promise<{ data: Array<infer E> }> ? E : never;

/** One account of one service: a function for each operation of the API. */
export interface Client extends Operations {
  /** Wait until a message has a final status. */
  wait(messageId: string, milliseconds?: number): Promise<Message>;
  /** Every entry of a list, page by page. */
  pages<K extends keyof Operations>(name: K, request?: Parameters<Operations[K]>[0]): AsyncGenerator<Entry<Operations[K]>>;
}
export const Client: new (options: Options) => Client;
