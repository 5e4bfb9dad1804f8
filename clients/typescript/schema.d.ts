// Made of the OpenAPI document by `make clients`. Do not edit.

/** One field that is wrong. */
export interface FieldError {
  /** The field, as a JSON pointer (RFC 6901); of a query or a header, its name. */
  pointer: string;
  /** What is wrong with it. */
  code: string;
  /** What it is this time, for people. */
  detail: string;
  /** What was probably meant. */
  suggestion?: string;
}

/** A recipient that was not accepted. */
export interface Rejected {
  /** The recipient's place in `phones`, from 0; null of a contact of a group. */
  index: number | null;
  /** As it was given; null where it was no text. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "duplicate" | "suppressed" | "missing_variable" | "too_many_segments" | "unicode_rejected" | "destination_not_allowed" | "recipient_limit" | "message_empty" | "message_too_long" | "invalid_characters" | "unknown_field" | "wrong_type" | "invalid";
  /** What it is this time, for people; null: it was erased. */
  detail?: string | null;
  /** What was probably meant; null: it was erased. */
  suggestion?: string | null;
  /** The index at which the phone is listed first. */
  duplicate_of?: number;
}

/** A character that is not in GSM-7. */
export interface Character {
  /** Its place in the message: code points, from 0. */
  index: number;
  /** The character. */
  char: string;
  /** Its number in Unicode. */
  codepoint: string;
  /** What may stand in its place; empty: nothing, it does not show. Null: nothing will do. */
  replacement: string | null;
}

/** The text in GSM-7, as `on_unicode: transliterate` would send it, and its price. */
export interface Alternative {
  /** The text in GSM-7. */
  text: string;
  /** Segments of one message. */
  segments: number;
  /** Credits for all recipients. */
  cost: number;
}

/** Why the text is UCS-2, or what was changed for it not to be. Absent where the text is GSM-7 as it was given. */
export interface Encoding {
  /** What the text is sent in. */
  name: "gsm7" | "ucs2";
  /** The characters that make it UCS-2, in their order: the first 20. Where texts differ by recipient, those of the message itself. */
  cause: Array<Character>;
  /** How many such characters there are. */
  cause_count: number;
  /** The characters that were replaced, in their order: the first 20. */
  changed: Array<Character>;
  /** How many characters were replaced. */
  changed_count: number;
  /** What `on_unicode: transliterate` would send; null: it would change what the text says, or the texts differ. */
  gsm7_alternative: Alternative | null;
}

/** RFC 9457 problem details, with the members that some errors have besides. */
export interface Error {
  /** Where the error is explained. */
  type: string;
  /** What it is, for people. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What it is this time, for people. */
  detail: string;
  /** The path of the request. */
  instance: string;
  /** What it is, for programs. */
  code: string;
  /** Also in X-Request-Id. Tell it to the operator. */
  request_id: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** What to do about it. */
  remediation: string;
  /** Of `validation_failed`: every field that is wrong, 100 at most. */
  errors?: Array<FieldError>;
  /** Of `validation_failed`: how many errors there are. */
  errors_total?: number;
  /** Of `no_valid_recipients` and `no_valid_contacts`: why each one is not valid, 100 at most. */
  rejected?: Array<Rejected>;
  /** Of `unicode_rejected`: which characters are not in GSM-7. */
  encoding?: Encoding;
  /** Of `low_balance`: credits that it needs. */
  required?: number;
  /** Of `low_balance`: credits that are left. */
  balance?: number;
  /** Of `too_many_recipients`: how many are taken. */
  max?: number;
  /** Of `too_many_recipients`: how many were given. */
  submitted?: number;
  /** Of `quote_changed`: credits that the quote said. */
  quoted?: number;
  /** Of `too_many_segments`: how many the message takes. */
  segments?: number;
  /** Of `too_many_segments`: how many it may take. */
  max_segments?: number;
  /** Of `spend_limit_reached`: credits that may be reserved in the period. */
  spend_limit?: number;
  /** Of `spend_limit_reached`: credits that were. */
  spent?: number;
  /** Of `spend_limit_reached`: which limit. */
  period?: "day" | "month";
  /** Of `spend_limit_reached`: when the period ends. */
  resets_at?: string;
  /** Of `traffic_refused`: what was unusual. */
  rule?: "block" | "burst";
  /** Of `traffic_refused`: what the phones begin with. */
  prefix?: string;
  /** Of `traffic_refused`: how many there were in the window. */
  phones?: number;
  /** Of `traffic_refused`: how many are usual. */
  most?: number;
  /** Of `traffic_refused`: how long the window is. */
  window_seconds?: number;
  /** Of `sender_not_approved`: where it stands. */
  sender_status?: string;
  /** Of `insufficient_scope`: what the token lacks. */
  scope?: string;
  /** Of `state_conflict`: the status in which it is not possible. */
  send_status?: string;
}

/** Why a message did not arrive, or is in doubt. */
export interface MessageError {
  /** What went wrong, one of the codes of `GET /errors?kind=message`. */
  code: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_answer" | "worker_stopped" | "not_sent";
  /** Whether the same message to this phone would fail again. */
  permanent: boolean;
  /** The carrier at which it happened; null: no carrier had a part in it. */
  carrier: string | null;
  /** The carrier's own code, as it was told; null: it told none. */
  carrier_code: string | null;
  /** What the code means, for people. */
  text: string;
}

/** A message that got another status. */
export interface MessageEventData {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, beginning with the country code; null: it was erased. */
  phone: string | null;
  /** What it is now. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** Rises along the life of a message: ignore an event with less than you have. */
  sequence: number;
  /** The carrier's own code, or ours; null: nothing is wrong. */
  error: string | null;
  /** Why it did not arrive, or is in doubt; null: nothing is wrong. */
  error_details: MessageError | null;
  /** The sender ID. */
  sender_id: string | null;
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Yours, as it was given. */
  metadata: Record<string, unknown> | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
}

/** A message from a phone. */
export interface MessageReceivedData {
  /** The message from a phone. */
  inbound_id: string;
  /** Who sent it. */
  phone: string;
  /** The number of yours that it was sent to. */
  sender_id: string;
  /** The text. */
  message: string;
  /** What it asks for; null: nothing. */
  keyword: "stop" | "start" | null;
}

/** A send that ended, or is held. */
export interface SendEventData {
  /** The send. */
  send_id: string;
  /** What it is now. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** What was asked for. */
  kind: "single" | "bulk" | "group";
  /** The sender ID. */
  sender_id: string;
  /** The accepted recipients, by message status. */
  counts: Record<string, number>;
  /** Why the send is held. */
  held_reason: string | null;
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Yours, as it was given. */
  metadata: Record<string, unknown> | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** When nothing was left to submit. */
  completed_at: string | null;
}

/** Phones that came on the opt-out list together. What is not the same for all of them is null. */
export interface SuppressionEventData {
  /** New on the list. */
  added: number;
  /** The phone, where it was one. */
  phone: string | null;
  /** Has opted out of this category only; null: of all. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** Has opted out of messages from this sender ID only; null: from all. */
  sender_id: string | null;
  /** Why: `stop` where the phone's owner wrote so. */
  reason: string | null;
}

/** A decision about a sender ID. */
export interface SenderIdEventData {
  /** The sender ID. */
  sender_id: string;
  /** Why; null: none was given. */
  reason: string | null;
}

/** A balance that fell below its threshold. */
export interface LowBalanceData {
  /** Credits that can still be spent. */
  balance: number;
  /** Below this the balance counts as low. */
  low_balance_threshold: number;
}

/** A webhook to which nothing is posted any more. */
export interface WebhookDisabledData {
  /** The webhook. */
  webhook_id: string;
  /** Where events were posted. */
  url: string | null;
  /** Why. */
  reason: string;
}

/** A test of a webhook. */
export interface WebhookTestData {
  /** The webhook. */
  webhook_id: string;
}

/** When nothing is sent, by the clock of the recipient. */
export interface QuietHours {
  /** When it begins. */
  from: string;
  /** When it ends; may be on the next day. */
  until: string;
}

/** One message to one phone. */
export interface SingleSend {
  /** A sender ID registered by the account. */
  sender_id: string;
  /** 1 to 1,600 characters, not blank. */
  message: string;
  /** When to send: at most 90 days ahead. Up to 60 seconds ago: now. */
  send_at?: string;
  /** When to give up: 72 hours after it is due, unless said. */
  expires_at?: string;
  /** Yours; comes back everywhere. */
  reference?: string;
  /** What it is for: decides how soon its turn comes. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message when it takes more. */
  max_segments?: number;
  /** All recipients, or nothing. */
  strict?: boolean;
  /** Send to a phone as often as it is listed; otherwise once. */
  allow_duplicates?: boolean;
  /** Segments per second, at most. */
  rate?: number;
  /** Where the events of this send are posted, besides your webhooks. */
  callback_url?: string;
  /** When nothing is sent, by the clock of the recipient, whose prefix tells the time zone: messages wait then. Without it, what the account has for the category. Not for `authentication`. */
  quiet_hours?: QuietHours;
  /** Of POST /sms/quote: with the same body the send costs no more than was quoted, or is refused. */
  quote_id?: string;
  /** At most 2 kB of your own; comes back. */
  metadata?: Record<string, unknown>;
  /** Digits only, beginning with the country code. */
  phone: string;
  /** Values for the placeholders of the message, by name. */
  variables?: Record<string, string>;
}

/** How one message is cut. */
export interface Segments {
  /** Segments. */
  count: number;
  /** gsm7 where every character fits, else ucs2. */
  encoding: "gsm7" | "ucs2";
  /** Unicode code points. */
  characters: number;
}

/** An accepted message. */
export interface Single {
  /** The send. */
  send_id: string;
  /** The sender ID. */
  sender_id: string;
  /** What it is for: decides how soon its turn comes. */
  category: "authentication" | "transactional" | "marketing";
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** Where it is. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** Credits. */
  cost: number;
  /** Credits that can still be spent, after this. */
  balance: number;
  /** When it is due; null: at once. */
  send_at: string | null;
  /** When it is given up. */
  expires_at: string;
  /** Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message reaches no phone. */
  simulated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given. */
  encoding?: Encoding;
  /** The message. */
  message_id: string;
  /** Digits only, beginning with the country code; null: it was erased. */
  phone: string | null;
  /** How many, and in which encoding. */
  segments: Segments;
}

/** When to hold the send: more than this share of at least so many messages has failed. */
export interface StopIf {
  /** Hold it when more than this share has failed, of those that a carrier answered for. */
  failed_share: number;
  /** Not before so many messages were answered for. */
  over?: number;
}

/** One message to several phones. */
export interface BulkSend {
  /** Hold the send when too many of its messages fail: refused by the carrier, or reported as undelivered. It goes on by `resume`. */
  stop_if?: StopIf;
  /** So many messages go first, or this share of them; then the send is held until their receipts are good: as many delivered as `stop_if` asks for, without it 90 %. It goes on by itself then, or by `resume`. */
  canary?: number | string;
  /** A sender ID registered by the account. */
  sender_id: string;
  /** 1 to 1,600 characters, not blank. */
  message: string;
  /** When to send: at most 90 days ahead. Up to 60 seconds ago: now. */
  send_at?: string;
  /** When to give up: 72 hours after it is due, unless said. */
  expires_at?: string;
  /** Yours; comes back everywhere. */
  reference?: string;
  /** What it is for: decides how soon its turn comes. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message when it takes more. */
  max_segments?: number;
  /** All recipients, or nothing. */
  strict?: boolean;
  /** Send to a phone as often as it is listed; otherwise once. */
  allow_duplicates?: boolean;
  /** Segments per second, at most. */
  rate?: number;
  /** Where the events of this send are posted, besides your webhooks. */
  callback_url?: string;
  /** When nothing is sent, by the clock of the recipient, whose prefix tells the time zone: messages wait then. Without it, what the account has for the category. Not for `authentication`. */
  quiet_hours?: QuietHours;
  /** Of POST /sms/quote: with the same body the send costs no more than was quoted, or is refused. */
  quote_id?: string;
  /** At most 2 kB of your own; comes back. */
  metadata?: Record<string, unknown>;
  /** 1 to 100,000 phones: digits only, beginning with the country code; or objects with `phone` and `variables`, values for the placeholders of the message. */
  phones: Array<string | {
    phone: string;
    variables?: Record<string, string>;
  }>;
}

/** Recipients of one request. */
export interface Counts {
  /** Recipients in the request, or contacts in the group. */
  submitted: number;
  /** Will be sent to. */
  accepted: number;
  /** Dropped: listed before. */
  duplicate: number;
  /** Not a phone, or without a value that the message needs; `rejected` tells. */
  invalid: number;
  /** Opted out, in a destination that the account may not send to, or over the recipient limit. */
  suppressed: number;
}

/** Segments of one message, and of all. */
export interface BulkSegments {
  /** Segments of each message; null where they differ. */
  per_message: number | null;
  /** gsm7 where every character fits, else ucs2. */
  encoding: "gsm7" | "ucs2";
  /** Segments of all messages; of a group that gets different ones, at most, until it is expanded. */
  total: number;
}

/** A recipient's message. */
export interface Accepted {
  /** The message. */
  message_id: string;
  /** Digits only, beginning with the country code; null: it was erased. */
  phone: string | null;
}

/** An accepted bulk or group send. */
export interface Bulk {
  /** The send. */
  send_id: string;
  /** The sender ID. */
  sender_id: string;
  /** What it is for: decides how soon its turn comes. */
  category: "authentication" | "transactional" | "marketing";
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** Where it is. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** Credits. */
  cost: number;
  /** Credits that can still be spent, after this. */
  balance: number;
  /** When it is due; null: at once. */
  send_at: string | null;
  /** When it is given up. */
  expires_at: string;
  /** Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message reaches no phone. */
  simulated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given. */
  encoding?: Encoding;
  /** The group, of a group send. */
  group_id: string | null;
  /** What became of the recipients. */
  counts: Counts;
  /** How many, and in which encoding. */
  segments: BulkSegments;
  /** The recipients that were not accepted, 1,000 at most. */
  rejected: Array<Rejected>;
  /** Whether there are more than this. */
  rejected_truncated?: boolean;
  /** The accepted recipients in order, 1,000 at most; of a group send, none. */
  messages: Array<Accepted>;
  /** Whether there are more messages than this: see `messages_url`. */
  messages_truncated?: boolean;
  /** Where all messages of the send are listed. */
  messages_url: string;
}

/** One message to every contact of a group. */
export interface GroupSend {
  /** Hold the send when too many of its messages fail: refused by the carrier, or reported as undelivered. It goes on by `resume`. */
  stop_if?: StopIf;
  /** So many messages go first, or this share of them; then the send is held until their receipts are good: as many delivered as `stop_if` asks for, without it 90 %. It goes on by itself then, or by `resume`. */
  canary?: number | string;
  /** A sender ID registered by the account. */
  sender_id: string;
  /** 1 to 1,600 characters, not blank. */
  message: string;
  /** When to send: at most 90 days ahead. Up to 60 seconds ago: now. */
  send_at?: string;
  /** When to give up: 72 hours after it is due, unless said. */
  expires_at?: string;
  /** Yours; comes back everywhere. */
  reference?: string;
  /** What it is for: decides how soon its turn comes. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message when it takes more. */
  max_segments?: number;
  /** All recipients, or nothing. */
  strict?: boolean;
  /** Send to a phone as often as it is listed; otherwise once. */
  allow_duplicates?: boolean;
  /** Segments per second, at most. */
  rate?: number;
  /** Where the events of this send are posted, besides your webhooks. */
  callback_url?: string;
  /** When nothing is sent, by the clock of the recipient, whose prefix tells the time zone: messages wait then. Without it, what the account has for the category. Not for `authentication`. */
  quiet_hours?: QuietHours;
  /** Of POST /sms/quote: with the same body the send costs no more than was quoted, or is refused. */
  quote_id?: string;
  /** At most 2 kB of your own; comes back. */
  metadata?: Record<string, unknown>;
  /** A group of the account. */
  group_id: string;
}

/** What a send would cost and reject. */
export interface Quote {
  /** What became of the recipients. */
  counts: Counts;
  /** How many, and in which encoding. */
  segments: BulkSegments;
  /** The text as it is cut, one entry a segment; none where the messages differ. */
  parts: Array<string>;
  /** Credits. */
  cost: number;
  /** Give it to the send. */
  quote_id: string;
  /** Until when the quote holds: 15 minutes. */
  quote_expires_at: string;
  /** Credits that can still be spent, after this. */
  balance: number;
  /** Whether the balance covers it. */
  sufficient: boolean;
  /** The recipients that were not accepted, 1,000 at most. */
  rejected: Array<Rejected>;
  /** Whether there are more than this. */
  rejected_truncated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given. */
  encoding?: Encoding;
}

/** An API key, without its secret. */
export interface ApiKey {
  /** The API key. */
  api_key: string;
  /** Yours, to tell keys apart. */
  name: string | null;
  /** Whether it is a key of the sandbox: its messages reach no phone and take play credits. */
  test: boolean;
  /** What it may be used for. */
  scopes: Array<string>;
  /** The networks from which alone it may be used; null: from everywhere. */
  allowed_ips: Array<string> | null;
  /** Requests per second, at most; null: as many as the account. */
  requests_per_second: number | null;
  /** When it was made. */
  created_at: string;
  /** When it ends by itself; null: never. */
  expires_at: string | null;
  /** When it was used last, to the minute; null: never. */
  last_used_at: string | null;
  /** When the secret before ends; null: there is none. */
  old_secret_expires_at: string | null;
}

export interface ApiKeyPage {
  /** The entries. */
  data: Array<ApiKey>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A new key. What is left out is as with the key in use, but for the scopes. */
export interface MakeApiKey {
  /** Yours, to tell keys apart. */
  name?: string;
  /** Make a test key, for the sandbox; without it, as the key in use is. */
  test?: boolean;
  /** What it may be used for: of sms:send, sms:read, balance:read, groups:read, groups:write, keys:read, keys:write, senders:read, senders:write, suppressions:read, suppressions:write, webhooks:read, webhooks:write, privacy:write. Without it: `sms:send` and those to read, as far as the key in use has them. */
  scopes?: Array<"sms:send" | "sms:read" | "balance:read" | "groups:read" | "groups:write" | "keys:read" | "keys:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "privacy:write">;
  /** The networks, or addresses, from which alone it may be used. */
  allowed_ips?: Array<string>;
  /** Requests per second, at most. */
  requests_per_second?: number;
  /** When it ends by itself. */
  expires_at?: string;
}

/** A new API key, with its secret: it is shown now and never again, so an answer that is told again has none. */
export interface NewApiKey {
  /** The API key. */
  api_key: string;
  /** Yours, to tell keys apart. */
  name: string | null;
  /** Whether it is a key of the sandbox: its messages reach no phone and take play credits. */
  test: boolean;
  /** What it may be used for. */
  scopes: Array<string>;
  /** The networks from which alone it may be used; null: from everywhere. */
  allowed_ips: Array<string> | null;
  /** Requests per second, at most; null: as many as the account. */
  requests_per_second: number | null;
  /** When it was made. */
  created_at: string;
  /** When it ends by itself; null: never. */
  expires_at: string | null;
  /** When it was used last, to the minute; null: never. */
  last_used_at: string | null;
  /** When the secret before ends; null: there is none. */
  old_secret_expires_at: string | null;
  /** Its secret: keep it now. Absent where `Idempotency-Replayed` is true. */
  api_secret?: string;
}

/** Another secret for a key. */
export interface RotateApiKey {
  /** How long the secret before goes on working, in seconds: 0 to 604,800. */
  overlap_seconds?: number;
}

/** The new secret: it is shown now and never again, so an answer that is told again has none. */
export interface RotatedApiKey {
  /** The API key. */
  api_key: string;
  /** Its new secret: keep it now. Absent where `Idempotency-Replayed` is true. */
  api_secret?: string;
  /** When the secret before ends, and the tokens that were got with it. */
  old_secret_expires_at: string;
}

/** The key is revoked. */
export interface RevokedApiKey {
  /** The API key. */
  api_key: string;
  /** The key is dead, and its tokens are. */
  revoked: boolean;
}

/** An API key and its secret; the headers X-API-Key and X-API-Secret do as well. */
export interface Credentials {
  /** The API key. */
  api_key: string;
  /** The API key's secret. */
  api_secret: string;
}

/** A bearer token. */
export interface Token {
  /** Goes into `Authorization: Bearer …`. */
  access_token: string;
  /** Always Bearer. */
  token_type: "Bearer";
  /** Seconds until the token ends. */
  expires_in: number;
  /** When the token ends. */
  expires_at: string;
  /** What the token may be used for, separated by spaces. */
  scope: string;
}

/** The token to revoke; without it, the one in use. */
export interface RevokeToken {
  /** The token to revoke; without it, the one in use. */
  token?: string;
}

/** The token is dead. */
export interface Revoked {
  /** The token is dead. */
  revoked: boolean;
}

/** What can be spent, and what is reserved. */
export interface Balance {
  /** Credits that can still be spent; what a 402 compares. */
  balance: number;
  /** Credits set aside for messages that are on their way. */
  reserved: number;
  /** One credit is one segment of an SMS. */
  unit: string;
  /** Below this the balance counts as low. */
  low_balance_threshold: number;
  /** When it changed last. */
  updated_at: string;
}

/** A row of the ledger. */
export interface Transaction {
  /** Grows with every row. */
  id: number;
  /** Why. */
  kind: "topup" | "reserve" | "capture" | "release" | "refund" | "reversal";
  /** Credits. */
  amount: number;
  /** The book that the credits came from. */
  debit: string;
  /** The book that the credits went to. */
  credit: string;
  /** The send. */
  send_id: string | null;
  /** The slice of the send's recipients. */
  batch_id: string | null;
  /** The message. */
  message_id: string | null;
  /** Of a top-up, its reversal, or a refund: why. */
  reason: string | null;
  /** When it was posted. */
  created_at: string;
}

export interface TransactionPage {
  /** The entries. */
  data: Array<Transaction>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A contact group. */
export interface Group {
  /** The group. */
  group_id: string;
  /** The group's name. */
  name: string;
  /** Contacts in the group. */
  contact_count: number;
  /** When it was made. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
}

export interface GroupPage {
  /** The entries. */
  data: Array<Group>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A group to be, or its new name. */
export interface GroupBody {
  /** The group's name. */
  name: string;
}

/** The group is gone; sends to it that were accepted before go on. */
export interface DeletedGroup {
  /** The group. */
  group_id: string;
  /** The group is deleted. */
  deleted: boolean;
}

/** A contact of a group. */
export interface Contact {
  /** Digits only, beginning with the country code. */
  phone: string;
  /** Texts by name, for placeholders in messages. */
  fields: Record<string, string>;
  /** Words by which contacts are found. */
  tags: Array<string>;
}

export interface ContactPage {
  /** The entries. */
  data: Array<Contact>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Contacts to put into a group: phones, or objects with `phone`, `fields` and `tags`. */
export interface ContactsBody {
  /** 1 to 100,000 contacts: phones, or objects with `phone` and perhaps `fields` (up to 30 texts by name, for placeholders) and `tags` (up to 20). */
  contacts: Array<string | {
    phone: string;
    fields?: Record<string, string>;
    tags?: Array<string>;
  }>;
}

/** What became of the entries. */
export interface ContactCounts {
  /** Entries of the request. */
  submitted: number;
  /** Contacts that are new in the group. */
  added: number;
  /** Contacts of the group that got other fields or tags. */
  changed: number;
  /** Contacts that were in the group as they are. */
  unchanged: number;
  /** Not taken: listed before. */
  duplicate: number;
  /** Not taken: see `rejected`. */
  invalid: number;
}

/** An entry that was not taken. */
export interface RejectedContact {
  /** The entry's place in `contacts`, from 0. */
  index: number;
  /** As it was given; null where it was no text. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "duplicate" | "unknown_field" | "wrong_type" | "invalid" | "too_long";
  /** Why, for people. */
  detail: string;
  /** The index at which the phone is listed first. */
  duplicate_of?: number;
}

/** The valid contacts are in the group. */
export interface PutContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** What became of the entries. */
  counts: ContactCounts;
  /** The entries that were not taken, 1,000 at most. */
  rejected: Array<RejectedContact>;
  /** Whether there are more than this. */
  rejected_truncated?: boolean;
}

/** Phones to take out of a group. */
export interface PhonesBody {
  /** 1 to 100,000 phones, written as they may be for the account's country. */
  phones: Array<string>;
}

/** None of the phones is in the group. */
export interface RemovedContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** Contacts that were taken out. */
  removed: number;
  /** Phones that were not in the group. */
  absent: number;
}

/** Where events are posted. */
export interface Webhook {
  /** The webhook. */
  webhook_id: string;
  /** Where events are posted; null: to each send's `callback_url`. */
  url: string | null;
  /** The types of events that are posted; null: all. */
  events: Array<string> | null;
  /** Yours, to know it by. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why nothing is posted to it; null while it is active. */
  disabled_reason: string | null;
  /** Since then no post has succeeded; null: the last one did. */
  failing_since: string | null;
  /** Rises by one with each rotation of the secret. */
  secret_version: number;
  /** Until then posts are signed with the secret before, too; null: they are not. */
  previous_secret_until: string | null;
  /** When it was made. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
}

export interface WebhookPage {
  /** The entries. */
  data: Array<Webhook>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A webhook to be. Without `url` it is that of the sends' `callback_url`. */
export interface WebhookBody {
  /** Where events are posted; null: to each send's `callback_url`. */
  url?: string;
  /** The types of events that are posted; null: all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "webhook.disabled"> | null;
  /** Yours, to know it by. */
  description?: string | null;
}

/** A webhook with its new secret, which is shown this once. */
export interface Secret {
  /** The webhook. */
  webhook_id: string;
  /** Where events are posted; null: to each send's `callback_url`. */
  url: string | null;
  /** The types of events that are posted; null: all. */
  events: Array<string> | null;
  /** Yours, to know it by. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why nothing is posted to it; null while it is active. */
  disabled_reason: string | null;
  /** Since then no post has succeeded; null: the last one did. */
  failing_since: string | null;
  /** Rises by one with each rotation of the secret. */
  secret_version: number;
  /** Until then posts are signed with the secret before, too; null: they are not. */
  previous_secret_until: string | null;
  /** When it was made. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
  /** Signs what is posted. Shown this once. */
  secret: string;
}

/** What is to be different about a webhook. */
export interface WebhookChange {
  /** Where events are posted; null: to each send's `callback_url`. */
  url?: string;
  /** The types of events that are posted; null: all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "webhook.disabled"> | null;
  /** Yours, to know it by. */
  description?: string | null;
  /** `active` posts from now on; POST …/recover brings what was missed. */
  status?: "active" | "disabled";
}

/** A webhook that is no more. */
export interface DeletedWebhook {
  /** The webhook. */
  webhook_id: string;
  /** The webhook is deleted. */
  deleted: boolean;
}

/** An event that goes to this webhook only. */
export interface Test {
  /** The webhook. */
  webhook_id: string;
  /** The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream. */
  event_id: string;
  /** Always `webhook.test`. */
  type: string;
}

/** What became of posting one event to one webhook. */
export interface Delivery {
  /** The webhook. */
  webhook_id: string;
  /** The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream. */
  event_id: string;
  /** What happened. */
  type: string;
  /** `failed`: it was tried often enough. */
  status: "pending" | "delivered" | "failed";
  /** How often it was posted. */
  attempts: number;
  /** When it is tried again; of pending ones. */
  next_attempt_at: string | null;
  /** Where it was posted. */
  url: string;
  /** What the last attempt was answered; null: nothing. */
  http_status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** How long the last attempt took. */
  milliseconds: number | null;
  /** When it was tried first. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
}

export interface DeliveryPage {
  /** The entries. */
  data: Array<Delivery>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** From when on events are to be posted that were not delivered. */
export interface RecoverBody {
  /** At most 8 days ago. */
  since: string;
}

/** Events are posted again from then on, but for those that were delivered. */
export interface Recover {
  /** The webhook. */
  webhook_id: string;
  /** From then on. */
  since: string;
}

/** What can be wrong with one field, explained. */
export interface FieldCode {
  /** What is wrong with the field. */
  code: string;
  /** What to do about it. */
  remediation: string;
}

/** An error code, explained. */
export interface ErrorEntry {
  /** What it is, for programs. */
  code: string;
  /** Whether requests or messages have this error. */
  kind: "request" | "message";
  /** The HTTP status; null of errors of messages. */
  status: number | null;
  /** Whether the same message would fail again; null of errors of requests. */
  permanent: boolean | null;
  /** What it is, for people. */
  title: string;
  /** What it means, for people; null of errors of requests. */
  meaning: string | null;
  /** What to do about it. */
  remediation: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** Of `validation_failed`: what can be wrong with a field. */
  field_codes?: Array<FieldCode>;
}

export interface ErrorEntryPage {
  /** The entries. */
  data: Array<ErrorEntry>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Something that happened; `type`, `timestamp` and `data` are what a webhook is posted. */
export interface StreamEvent {
  /** The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream. */
  event_id: string;
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What happened to what. */
  data: Record<string, unknown>;
}

export interface StreamEventPage {
  /** The entries. */
  data: Array<StreamEvent>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** What became of the rows so far. */
export interface ImportCounts {
  /** Rows that were read, without the header. */
  rows: number;
  /** Contacts that are new in the group. */
  added: number;
  /** Contacts of the group that got other fields or tags. */
  changed: number;
  /** Contacts that were in the group as they are. */
  unchanged: number;
  /** Rows that are no contacts. */
  invalid: number;
}

/** A file of contacts on its way into a group. */
export interface Import {
  /** The import. */
  import_id: string;
  /** The group. */
  group_id: string;
  /** Where it is. */
  status: "queued" | "running" | "completed" | "failed" | "canceled";
  /** The country in whose way the file writes numbers; null: only international ones are read. */
  country: string | null;
  /** The file's size, as UTF-8. */
  bytes: number;
  /** How much of it was read. */
  bytes_done: number;
  /** What became of the rows so far. */
  counts: ImportCounts;
  /** Of a failed import: why. */
  error: string | null;
  /** Where the rows that are no contacts are listed. */
  errors_url: string;
  /** When the file was complete. */
  created_at: string;
  /** When it ended. */
  finished_at: string | null;
}

export interface ImportPage {
  /** The entries. */
  data: Array<Import>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A row that is no contact. */
export interface ImportError {
  /** The row's first line in the file, from 1. */
  line: number;
  /** The row's phone as it was given, cut to 40 characters. */
  value: string;
  /** Why it is no contact. */
  code: "invalid_phone" | "invalid";
  /** Why, for people. */
  detail: string;
}

export interface ImportErrorPage {
  /** The entries. */
  data: Array<ImportError>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A message from a phone. */
export interface Inbound {
  /** The message from a phone. */
  inbound_id: string;
  /** Who sent it. */
  phone: string;
  /** The number of yours that it was sent to. */
  sender_id: string;
  /** The text. */
  message: string;
  /** What a message that is nothing but such a word asks for: `stop` to be written to no more, `start` the opposite. Null for every other message. */
  keyword: "stop" | "start" | null;
  /** Segments that it came in. */
  segments: number;
  /** Segments of it that never came; its text is then what did. */
  missing_segments: number;
  /** The carrier that it came from. */
  carrier: string;
  /** When it came. */
  received_at: string;
}

export interface InboundPage {
  /** The entries. */
  data: Array<Inbound>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** How much work of a request counts as one request of the rate limit, and as at least one. */
export interface RequestCost {
  /** Rows of a list, report or export, returned or examined because of a filter. */
  rows: number;
  /** Recipients of a message with placeholders, for a quote or a send that is refused. Sends that are accepted are not charged by recipients. */
  recipients: number;
  /** Bytes of a JSON body. */
  body_bytes: number;
  /** The longest wait after a request that cost more than there was. */
  debt_seconds: number;
}

/** What the account's sends may reserve, and what they have reserved, where that is limited. */
export interface Spending {
  /** Credits that its sends may reserve on a day; null: as many as there are. */
  day: number | null;
  /** Credits that its sends may reserve in a month; null: as many as there are. */
  month: number | null;
  /** Credits that its sends have reserved today; counted where there is a limit. */
  spent_of_day: number;
  /** Credits that its sends have reserved this month; counted where there is a limit. */
  spent_of_month: number;
}

/** Messages of each category that a phone may get within an hour. */
export interface RecipientLimits {
  /** Of one-time passwords and the like; null: any number. */
  authentication: number | null;
  /** Of this category; null: any number. */
  transactional: number | null;
  /** Of this category; null: any number. */
  marketing: number | null;
}

/** What the service takes at most, and the account's backlog. */
export interface Limits {
  /** The longest message, in Unicode code points. */
  message_characters: number;
  /** The most recipients of one bulk send. */
  phones_per_request: number;
  /** The largest body, in bytes. */
  body_bytes: number;
  /** The largest body of /sms/send-bulk and /sms/quote, in bytes. */
  bulk_body_bytes: number;
  /** How far ahead a send can be scheduled, in days. */
  schedule_days_ahead: number;
  /** The largest `metadata`, in bytes. */
  metadata_bytes: number;
  /** How long a token is valid, in seconds. */
  token_seconds: number;
  /** Requests per second that are taken from the account. */
  requests_per_second: number;
  /** What costs as much as one request; the account's next requests pay for what was too much. */
  request_cost: RequestCost;
  /** The longest page. */
  page_items: number;
  /** Bytes of a URL, and of one header. */
  header_bytes: number;
  /** Bytes of a URL and all headers together. */
  head_bytes: number;
  /** Keys of one JSON object. */
  json_keys: number;
  /** Values of a JSON body, nested ones too. A body of 64 kB may have 15,000. */
  json_values: number;
  /** Levels of nesting of a JSON body. */
  json_depth: number;
  /** Requests of the account that each process of the API works on; one more is `rate_limited`. Before sign-in an address has fewer. */
  requests_under_way: number;
  /** Of these, those with a body above `body_bytes`; one more waits. */
  large_bodies_under_way: number;
  /** CSV exports that each process writes at once; one more is `rate_limited`. */
  exports_under_way: number;
  /** Rows that are examined for one page of a list with filters: it may be shorter than `limit` then. */
  page_rows_examined: number;
  /** Seconds after which a statement of a list or report is ended; the answer is 503. */
  page_seconds: number;
  /** How quickly a large body arrives at least, after its first 20 seconds. */
  body_bytes_per_second: number;
  /** Tokens of one API key that can be revoked in a day. */
  revoked_tokens_per_key: number;
  /** Groups that an account can have. */
  groups: number;
  /** How long an Idempotency-Key is remembered, in days. */
  idempotency_days: number;
  /** The account's messages that wait to be sent. */
  backlog_messages: number;
  /** What the largest send of the backlog waits for: as `limited_by` of a send. */
  backlog_limited_by: string | null;
  /** When the last message that is queued should be handed over; null where nobody knows. */
  backlog_eta: string | null;
  /** What its sends may reserve in a day and a month of UTC. */
  spending: Spending;
  /** What phones must begin with, one of these; null: anything. */
  destinations: Array<string> | null;
  /** What is done about one-time passwords to unusually many phones of one block or area. */
  pumping_guard: "off" | "watch" | "block";
  /** Messages that a phone may get from the account within an hour, by category. */
  messages_per_phone_hour: RecipientLimits;
}

/** When the send is to be held. */
export interface StopRule {
  /** Hold it when more than this share has failed, of those that a carrier answered for. */
  failed_share: number;
  /** Not before so many messages were answered for. */
  over: number;
}

/** When nothing is sent, by the clock of the recipient. */
export interface QuietHoursRule {
  /** When it begins, by the recipient's clock. */
  from: string;
  /** When it ends; may be on the next day. */
  until: string;
}

/** How many messages of the category a phone gets. */
export interface Cap {
  /** At most so many messages of the category to a phone; what is more is `rejected`, not charged. */
  most: number;
  /** In so many hours. */
  hours: number;
}

/** An accepted request and what has become of it. */
export interface Send {
  /** The send. */
  send_id: string;
  /** What was asked for. */
  kind: "single" | "bulk" | "group";
  /** Where it is. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** The sender ID. */
  sender_id: string;
  /** The text; `{{name}}` and `{{name|default}}` are placeholders. */
  message: string;
  /** The group, of a group send. */
  group_id: string | null;
  /** Recipients at the door, and the accepted ones by message status. */
  counts: Record<string, number>;
  /** How many, and in which encoding. */
  segments: BulkSegments;
  /** Credits that were reserved for it when it was accepted. */
  cost: number;
  /** Credits of its messages that a carrier took: `sent`, `delivered` and `undelivered`. What is neither charged nor waiting, sending or in doubt was given back. */
  charged: number;
  /** What it is for: decides how soon its turn comes. */
  category: "authentication" | "transactional" | "marketing";
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Yours, as it was given. */
  metadata: Record<string, unknown> | null;
  /** Where the events of this send are posted, besides your webhooks. */
  callback_url: string | null;
  /** Segments per second, at most; null: as fast as the route goes. */
  rate: number | null;
  /** When the send is to be held because messages fail; null: never, or not any more. */
  stop_if: StopRule | null;
  /** When nothing of it is sent, by the clock of the recipient; null: at no time. */
  quiet_hours: QuietHoursRule | null;
  /** How many messages of its category a phone gets, by the rule of the account; null: any number. */
  cap: Cap | null;
  /** How many messages go first; null: there is no canary, or it is over. */
  canary: number | null;
  /** When the last message should be handed over; null where nobody knows. */
  eta: string | null;
  /** What it waits for at present, one of: `send_at`, `paused`, `held`, `carrier_paused`, `carrier_down`, `no_worker`, `send_rate`, `sender_rate`, `prefix_rate`, `canary`, `quiet_hours`, `retry`, `throttled`, `carrier_rate`, `queue_turn`, `window`. `carrier_rate` is the usual one of a large send; `sender_rate`, `prefix_rate`: its sender ID, or the numbers that it goes to, may have no more a second; `queue_turn`: others are before it; `throttled`: the carrier asked for less; `retry`: it goes again in a moment. Null: nothing waits. */
  limited_by: string | null;
  /** Submits that were repeated because an earlier one had no answer; only where the operator wants it. */
  resent: number;
  /** What holds it: `operator`, `crashes` (of workers that sent or prepared it: the operator looks), `sender_id` (suspended), `canary` or `stop_if`. The last two go on by `resume`. */
  held_by: "operator" | "crashes" | "sender_id" | "canary" | "stop_if" | null;
  /** Why the send is held. */
  held_reason: string | null;
  /** When it is due; null: at once. */
  send_at: string | null;
  /** When it is given up. */
  expires_at: string;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** Where all messages of the send are listed. */
  messages_url: string;
  /** When it was accepted. */
  created_at: string;
  /** When nothing was left to submit. */
  completed_at: string | null;
}

export interface SendPage {
  /** The entries. */
  data: Array<Send>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** What of a send is to change. */
export interface SendChanges {
  /** When it is due: at most 90 days ahead. Null, or up to 60 seconds ago: now. An `expires_at` that was not chosen moves with it. */
  send_at?: string | null;
  /** When it is given up. */
  expires_at?: string;
  /** Segments per second, at most; null: as fast as the route goes. */
  rate?: number | null;
  /** The text; `{{name}}` and `{{name|default}}` are placeholders. */
  message?: string;
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message when it takes more. */
  max_segments?: number;
}

/** One SMS to one phone. */
export interface Message {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, beginning with the country code; null: it was erased. */
  phone: string | null;
  /** Where it is. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** The sender ID. */
  sender_id: string;
  /** Segments of this message. */
  segments: number;
  /** Credits; 0 where they were given back. */
  cost: number;
  /** What it is for: decides how soon its turn comes. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that took it, or was the last to refuse it; null: none was asked. */
  carrier: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits; null: none, or the phone was erased. */
  country: string | null;
  /** The group, of a group send. */
  group_id: string | null;
  /** Why it did not arrive, or is in doubt; null: nothing is wrong. */
  error: MessageError | null;
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** When it was handed to the carrier; where a crash left it in doubt, no later than this. Null: it was not. */
  submitted_at: string | null;
  /** When the last word on it came: of a canceled or expired one, when it ended. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
}

export interface MessagePage {
  /** The entries. */
  data: Array<Message>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** One submit of a message to a carrier. */
export interface Attempt {
  /** The carrier that was asked. */
  carrier: string | null;
  /** The route and why it led to that carrier; null where there is one carrier only. */
  route: string | null;
  /** When it was submitted. */
  submitted_at: string;
  /** When it was answered; null: no answer came. */
  answered_at: string | null;
  /** What it was answered: `rejected` is for good, `failed` for this time, `in_doubt` is no answer. */
  answer: "accepted" | "rejected" | "failed" | "in_doubt";
  /** The carrier's own code, as it was told; null: it told none. */
  carrier_code: string | null;
  /** Milliseconds from the submit to the answer; null: no answer came, or it is not known. */
  latency_ms: number | null;
}

/** Something that happened to a message. */
export interface Event {
  /** When. */
  at: string;
  /** What happened: `accepted`, `due`, `attempt_failed`, or the status that the message got. */
  type: string;
  /** The carrier that took it. */
  carrier?: string;
  /** The route and why it led to that carrier; null where there is one carrier only. */
  route?: string | null;
  /** The carrier's own id of the message. */
  carrier_reference?: string | null;
  /** How often it was handed to a carrier. */
  attempts?: number;
  /** What went wrong; null: nothing. */
  error?: MessageError | null;
  /** What it is this time, for people. */
  detail?: string;
  /** When it happened by the carrier's clock; null: it told no time. `at` is when we learned it. */
  carrier_at?: string | null;
  /** To what the carrier's time is told: receipts of SMPP have minutes as a rule. */
  carrier_at_precision?: "minute" | "second" | "millisecond" | null;
  /** What ended the doubt: an answer after all, a receipt, the operator, a report of the carrier, or the end of its validity; null: nothing so far. */
  resolved_by?: "answer" | "receipt" | "operator" | "reconciliation" | "validity" | null;
  /** What the carrier told: its id of the message, or its code; null: nothing. */
  evidence?: string | null;
}

/** A message left and no answer came. */
export interface Doubt {
  /** Since when no answer was waited for. */
  since: string;
  /** Why: a code of `GET /errors?kind=message`. */
  reason: string;
  /** When it was resolved; null: it lasts. */
  resolved_at: string | null;
  /** What ended the doubt: an answer after all, a receipt, the operator, a report of the carrier, or the end of its validity; null: nothing so far. */
  resolved_by: "answer" | "receipt" | "operator" | "reconciliation" | "validity" | null;
  /** What the carrier told: its id of the message, or its code; null: nothing. */
  evidence: string | null;
}

/** One SMS to one phone, with its text and all that happened to it. */
export interface MessageDetail {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, beginning with the country code; null: it was erased. */
  phone: string | null;
  /** Where it is. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** The sender ID. */
  sender_id: string;
  /** Segments of this message. */
  segments: number;
  /** Credits; 0 where they were given back. */
  cost: number;
  /** What it is for: decides how soon its turn comes. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that took it, or was the last to refuse it; null: none was asked. */
  carrier: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits; null: none, or the phone was erased. */
  country: string | null;
  /** The group, of a group send. */
  group_id: string | null;
  /** Why it did not arrive, or is in doubt; null: nothing is wrong. */
  error: MessageError | null;
  /** Yours; comes back everywhere. */
  reference: string | null;
  /** Of the sandbox, accepted with a test key: it reaches no phone and takes play credits. */
  test: boolean;
  /** When it was handed to the carrier; where a crash left it in doubt, no later than this. Null: it was not. */
  submitted_at: string | null;
  /** When the last word on it came: of a canceled or expired one, when it ended. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
  /** The text as it is sent to this phone, with its values; null: it was erased. */
  text: string | null;
  /** gsm7 where every character fits, else ucs2. */
  encoding: "gsm7" | "ucs2";
  /** The text as it is cut, one entry a segment. */
  parts: Array<string>;
  /** Each submit to a carrier, oldest first; what a carrier only put off is none. */
  attempts: Array<Attempt>;
  /** What happened, oldest first. */
  timeline: Array<Event>;
  /** Why it was in doubt, and what ended that; null: it was not. */
  doubt: Doubt | null;
}

/** The timeline of one message, oldest first. */
export interface Events {
  /** The message. */
  message_id: string;
  /** What happened, oldest first. */
  data: Array<Event>;
}

/** The phone of the person to be erased. */
export interface ErasureBody {
  /** Digits only, beginning with the country code. */
  phone: string;
}

/** What was erased. */
export interface ErasureCounts {
  /** Messages whose phone was erased; their status and cost stay. */
  messages: number;
  /** Texts of messages that were to this phone alone. */
  texts: number;
  /** Contacts, in all groups. */
  contacts: number;
  /** Messages that were received from the phone. */
  inbound: number;
}

/** The erasure of a person: a receipt, which does not name the phone. */
export interface Erasure {
  /** The erasure: keep it as the receipt. */
  erasure_id: string;
  /** `pending` until nothing has the phone any more. What is on its way is waited for, and what waits to be sent is not sent. `failed`: the service could not do it, and its operator has been told. */
  status: "pending" | "completed" | "failed";
  /** What was erased so far. */
  counts: ErasureCounts;
  /** When it was asked for. */
  created_at: string;
  /** When the last of it was erased. */
  completed_at: string | null;
}

export interface ErasurePage {
  /** The entries. */
  data: Array<Erasure>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** The play credits of a sandbox, and how many were added. */
export interface Refill {
  /** Play credits that were added. */
  added: number;
  /** Credits that can still be spent, after this. */
  balance: number;
  /** Credits set aside for messages that are on their way. */
  reserved: number;
}

/** A sender ID and where it stands. */
export interface Sender {
  /** Its id. */
  id: string;
  /** The sender ID. */
  sender_id: string;
  /** Letters, a short code, or a phone's number. */
  form: "alphanumeric" | "short_code" | "number";
  /** Only an `approved` one may be sent from. */
  status: "pending" | "approved" | "rejected" | "suspended";
  /** Why it was rejected or suspended. */
  reason: string | null;
  /** What it is for: the operator reads it. */
  use_case: string | null;
  /** When it was asked for. */
  created_at: string;
  /** When the operator decided. */
  decided_at: string | null;
}

export interface SenderPage {
  /** The entries. */
  data: Array<Sender>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A sender ID that the account wants to send from. */
export interface SenderRequest {
  /** Take 1 to 11 of A-Z, a-z, 0-9, space and . - _ + & with a letter among them and no space at an end, or a short code of 3 to 7 digits, or a number of 8 to 15 digits that begins with the country code. */
  sender_id: string;
  /** What it is for: the operator reads it. */
  use_case?: string;
}

/** It is gone. */
export interface Deleted {
  /** It is no more. */
  deleted: boolean;
}

/** A phone that has opted out, and of what. */
export interface Suppression {
  /** Digits only, beginning with the country code. */
  phone: string;
  /** Has opted out of this category only; null: of all. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** Has opted out of messages from this sender ID only; null: from all. */
  sender_id: string | null;
  /** Why: `stop` where the phone's owner wrote so. */
  reason: string;
  /** When it was put on the list. */
  created_at: string;
}

export interface SuppressionPage {
  /** The entries. */
  data: Array<Suppression>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Phones that have opted out. */
export interface SuppressionsBody {
  /** Only of messages of this category; without it, of all. */
  category?: "authentication" | "transactional" | "marketing";
  /** Only of messages from this sender ID; without it, from all. */
  sender_id?: string;
  /** 1 to 100,000 phones, as contacts are written. */
  phones: Array<string>;
  /** Why: for your own records. */
  reason?: string;
}

/** What became of the entries. */
export interface SuppressedCounts {
  /** Entries in the request. */
  submitted: number;
  /** New on the list. */
  added: number;
  /** On the list before. */
  unchanged: number;
  /** Listed before in this request. */
  duplicate: number;
  /** Not taken: see `rejected`. */
  invalid: number;
}

/** An entry that was not taken. */
export interface RejectedSuppression {
  /** The entry's place in the list, from 0. */
  index: number;
  /** As it was given; null where it was no text. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "invalid";
  /** Why, for people. */
  detail: string;
}

/** The valid phones are on the list. */
export interface Suppressed {
  /** What became of the entries. */
  counts: SuppressedCounts;
  /** The entries that were not taken, 1,000 at most. */
  rejected: Array<RejectedSuppression>;
  /** Whether there are more than this. */
  rejected_truncated?: boolean;
}

/** The phone may be sent to again. */
export interface Unsuppressed {
  /** Digits only, beginning with the country code. */
  phone: string;
  /** Opt-outs that were taken from the list. */
  removed: number;
}

/** Messages with a result, counted. What they were not counted by is null. */
export interface Usage {
  /** The day on which the send was accepted, UTC; null where not counted by it. */
  day: string | null;
  /** The sender ID; null where not counted by it. */
  sender_id: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits. Null where it is not counted by it, for phones of no country, and for messages that ended with their send and were never handed over. */
  country: string | null;
  /** What they were for; null where not counted by it. */
  category: string | null;
  /** What became of them; null where not counted by it. */
  status: "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" | null;
  /** How many messages. */
  messages: number;
  /** Credits of those that a carrier took: `sent`, `delivered` and `undelivered`. */
  credits: number;
}

/** A page of counts, and how fresh they are. */
export interface UsagePage {
  /** The entries. */
  data: Array<Usage>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
  /** When today's counts were made: some seconds ago, longer on a busy day. Older hours are counted again, more and more rarely, as long as their messages change. Null: nothing was counted yet. */
  counted_at: string | null;
}

export interface MessageSentEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageDeliveredEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageUndeliveredEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageFailedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageRejectedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageExpiredEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageCanceledEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageInDoubtEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageReceivedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageReceivedData;
}

export interface SendCompletedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SendCanceledEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SendHeldEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SuppressionCreatedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SuppressionEventData;
}

export interface SenderIdApprovedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface SenderIdRejectedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface SenderIdSuspendedEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface BalanceLowEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: LowBalanceData;
}

export interface WebhookDisabledEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: WebhookDisabledData;
}

export interface WebhookTestEvent {
  /** What happened. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What it is about. */
  data: WebhookTestData;
}

export interface CsvForm {
  /** The CSV file. */
  file: string;
}

export interface Operations {
  /** Send one message to one phone. */
  sendMessage(request: { body: SingleSend; key?: string; signal?: AbortSignal }): Promise<Single>;
  /** Send one message to up to 100,000 phones. */
  sendBulk(request: { body: BulkSend; key?: string; signal?: AbortSignal }): Promise<Bulk>;
  /** Send one message to every contact of a group. */
  sendGroup(request: { body: GroupSend; key?: string; signal?: AbortSignal }): Promise<Bulk>;
  /** Say what a send would cost and reject; takes the body of any of the three, and sends nothing. */
  createQuote(request: { body: SingleSend | BulkSend | GroupSend; key?: string; signal?: AbortSignal }): Promise<Quote>;
  /** List the API keys that are not revoked, those of the sandbox too; a test key sees only these. No secrets. */
  listApiKeys(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ApiKeyPage>;
  /** Make an API key, which can do no more than the key in use. Its secret is shown now and never again. */
  createApiKey(request: { body: MakeApiKey; key?: string; signal?: AbortSignal }): Promise<NewApiKey>;
  /** Give a key another secret, which is shown now and never again. The old one works until old_secret_expires_at. */
  rotateApiKeySecret(request: { path: { key_id: string }; body: RotateApiKey; key?: string; signal?: AbortSignal }): Promise<RotatedApiKey>;
  /** Revoke a key. It and its tokens are dead within five seconds everywhere. */
  revokeApiKey(request: { path: { key_id: string }; signal?: AbortSignal }): Promise<RevokedApiKey>;
  /** Exchange an API key and secret for a bearer token, valid for 24 hours. */
  createToken(request?: { body?: Credentials; signal?: AbortSignal }): Promise<Token>;
  /** Revoke the token in use, or the one given as token. It is dead within five seconds everywhere. */
  revokeAccessToken(request?: { body?: RevokeToken; signal?: AbortSignal }): Promise<Revoked>;
  /** What can still be spent, in credits. balance is what a 402 compares. */
  getBalance(request?: { signal?: AbortSignal }): Promise<Balance>;
  /** List the ledger, newest first: every credit, tied to its send, batch or message. */
  listTransactions(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<TransactionPage>;
  /** List the contact groups with their contact counts. Without parameters, all of them. */
  listGroups(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<GroupPage>;
  /** Make an empty group. */
  createGroup(request: { body: GroupBody; key?: string; signal?: AbortSignal }): Promise<Group>;
  /** Show one group. */
  getGroup(request: { path: { group_id: string }; signal?: AbortSignal }): Promise<Group>;
  /** Give a group another name. */
  renameGroup(request: { path: { group_id: string }; body: GroupBody; signal?: AbortSignal }): Promise<Group>;
  /** Delete a group and its contacts. Sends to it that were accepted before go on; its name is free again. */
  deleteGroup(request: { path: { group_id: string }; signal?: AbortSignal }): Promise<DeletedGroup>;
  /** List the contacts of a group in the order in which they came; with Accept: text/csv, stream all as CSV. */
  listContacts(request: { path: { group_id: string }; query?: { limit?: number; cursor?: string; phone?: string; tag?: string }; signal?: AbortSignal }): Promise<ContactPage>;
  /** Add up to 100,000 contacts to a group, and change those that are in it. */
  addContacts(request: { path: { group_id: string }; body: ContactsBody; key?: string; signal?: AbortSignal }): Promise<PutContacts>;
  /** Take up to 100,000 phones out of a group. Phones that are not in it are counted as absent. */
  removeContacts(request: { path: { group_id: string }; body: PhonesBody; signal?: AbortSignal }): Promise<RemovedContacts>;
  /** List the account's webhooks. */
  listWebhooks(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<WebhookPage>;
  /** Have events posted to an address, signed as Standard Webhooks 1.0 says; its secret is in this answer only. */
  createWebhook(request: { body: WebhookBody; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Show one webhook. */
  getWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<Webhook>;
  /** Change a webhook, disable it or enable it again. What happened while it was disabled is not posted by itself. */
  updateWebhook(request: { path: { webhook_id: string }; body: WebhookChange; signal?: AbortSignal }): Promise<Webhook>;
  /** Delete a webhook and what is known of its deliveries. What is being posted at this moment still arrives. */
  deleteWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<DeletedWebhook>;
  /** Make a new secret. For 24 hours posts are signed with the one before, too, so that a receiver can change over. */
  rotateWebhookSecret(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Post a webhook.test event to this webhook; what became of it is among its deliveries. */
  testWebhook(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Test>;
  /** List what became of the webhook's events, newest first. Those that wait for their first attempt are not there. */
  listDeliveries(request: { path: { webhook_id: string }; query?: { limit?: number; cursor?: string; status?: "pending" | "delivered" | "failed" }; signal?: AbortSignal }): Promise<DeliveryPage>;
  /** Post an event to this webhook again, whatever became of it, with the same id. */
  replayDelivery(request: { path: { webhook_id: string; event_id: string }; key?: string; signal?: AbortSignal }): Promise<Delivery>;
  /** Post every event since then that was not delivered to this webhook, also what happened while it was disabled. */
  recoverWebhook(request: { path: { webhook_id: string }; body: RecoverBody; key?: string; signal?: AbortSignal }): Promise<Recover>;
  /** List every error code: of requests, or with kind=message of messages. */
  listErrors(request?: { query?: { kind?: "request" | "message" }; signal?: AbortSignal }): Promise<ErrorEntryPage>;
  /** Explain one error code, of requests or of messages. */
  getError(request: { path: { code: string }; signal?: AbortSignal }): Promise<ErrorEntry>;
  /** Read what happened, oldest first, beginning after the event that you handled last. */
  listEvents(request?: { query?: { limit?: number; cursor?: string; after?: string; types?: string }; signal?: AbortSignal }): Promise<StreamEventPage>;
  /** Import a CSV file of up to 100 MB into a group, in the background. */
  importContacts(request: { path: { group_id: string }; query?: { country?: string }; body: string; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the imports, newest first. */
  listImports(request?: { query?: { limit?: number; cursor?: string; group_id?: string }; signal?: AbortSignal }): Promise<ImportPage>;
  /** Show how far an import is. */
  getImport(request: { path: { import_id: string }; signal?: AbortSignal }): Promise<Import>;
  /** List the rows that are no contacts, in their order; with Accept: text/csv, stream all of them as CSV. */
  listImportErrors(request: { path: { import_id: string }; query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ImportErrorPage>;
  /** Stop an import. What was imported until then stays in the group. */
  cancelImport(request: { path: { import_id: string }; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the messages that phones sent to the account's numbers, newest first. */
  listInboundMessages(request?: { query?: { limit?: number; cursor?: string; phone?: string; sender_id?: string; keyword?: "stop" | "start"; since?: string; until?: string }; signal?: AbortSignal }): Promise<InboundPage>;
  /** Tell every limit, and the account's backlog. */
  getLimits(request?: { signal?: AbortSignal }): Promise<Limits>;
  /** List the account's sends, newest first. */
  listSends(request?: { query?: { limit?: number; cursor?: string; status?: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled"; reference?: string }; signal?: AbortSignal }): Promise<SendPage>;
  /** Show one send: its status, counts per message status, cost, and when it should be done. */
  getSend(request: { path: { send_id: string }; signal?: AbortSignal }): Promise<Send>;
  /** Change when a send is due or expires, its rate, or its text. */
  updateSend(request: { path: { send_id: string }; body: SendChanges; signal?: AbortSignal }): Promise<Send>;
  /** Cancel what was not handed to a carrier yet; its credits are given back. Needs the scope sms:read, too. */
  cancelSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Stop handing messages to carriers until the send is resumed. Needs the scope sms:read, too. */
  pauseSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Go on with a paused send, or with one that its canary or stop_if holds: that rule has ended then. */
  resumeSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** List the messages of a send in order; with Accept: text/csv, stream all of them as CSV. */
  listSendMessages(request: { path: { send_id: string }; query?: { limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" }; signal?: AbortSignal }): Promise<MessagePage>;
  /** List the account's messages, newest send first; filter by what they are, and by time. */
  listMessages(request?: { query?: { limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered"; phone?: string; error?: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_answer" | "worker_stopped" | "not_sent"; permanent?: boolean; carrier?: string; country?: string; reference?: string; group_id?: string; since?: string; until?: string }; signal?: AbortSignal }): Promise<MessagePage>;
  /** Show one message: its text as it is sent to this phone, every attempt, and what happened to it. */
  getMessage(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<MessageDetail>;
  /** Tell what happened to a message: acceptance, every attempt, the carrier's answer, a doubt, receipts. */
  listMessageEvents(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<Events>;
  /** Erase a person: the phone wherever the account has it, the texts that only it was sent, what it sent. */
  createErasure(request: { body: ErasureBody; key?: string; signal?: AbortSignal }): Promise<Erasure>;
  /** List the erasures, newest first. */
  listErasures(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ErasurePage>;
  /** Show one erasure: whether it is complete, and what was erased. */
  getErasure(request: { path: { erasure_id: string }; signal?: AbortSignal }): Promise<Erasure>;
  /** Fill the play credits of the sandbox up to 1,000,000 again. Only test keys have play credits. */
  refillSandbox(request?: { key?: string; signal?: AbortSignal }): Promise<Refill>;
  /** List the account's sender IDs and where they stand. */
  listSenderIds(request?: { query?: { limit?: number; cursor?: string; status?: "pending" | "approved" | "rejected" | "suspended" }; signal?: AbortSignal }): Promise<SenderPage>;
  /** Ask for a sender ID, also once more for a rejected one. */
  requestSenderId(request: { body: SenderRequest; key?: string; signal?: AbortSignal }): Promise<Sender>;
  /** Give a sender ID up. What was accepted with it is still sent; a suspended one stays. */
  deleteSenderId(request: { path: { sender: string }; signal?: AbortSignal }): Promise<Deleted>;
  /** List who has opted out, by phone; with Accept: text/csv, stream all of them as CSV. */
  listSuppressions(request?: { query?: { limit?: number; cursor?: string; phone?: string; category?: "authentication" | "transactional" | "marketing"; sender_id?: string; reason?: string }; signal?: AbortSignal }): Promise<SuppressionPage>;
  /** Put up to 100,000 phones on the list: of everything, of one category, of one sender ID, or of both together. */
  createSuppressions(request: { body: SuppressionsBody; key?: string; signal?: AbortSignal }): Promise<Suppressed>;
  /** Put the rows of a CSV on the list, as the export of GET has them: phone, and where given the others. */
  importSuppressions(request: { body: string; key?: string; signal?: AbortSignal }): Promise<Suppressed>;
  /** Let the account send to a phone again; with category or sender_id, only in that. */
  deleteSuppression(request: { path: { phone: string }; query?: { category?: "authentication" | "transactional" | "marketing"; sender_id?: string }; signal?: AbortSignal }): Promise<Unsuppressed>;
  /** Count messages that have a result, by day, sender ID, country, category and status; test sends are not counted. */
  getUsage(request?: { query?: { since?: string; until?: string; by?: string; sender_id?: string; country?: string; category?: "authentication" | "transactional" | "marketing"; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered"; limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<UsagePage>;
}
