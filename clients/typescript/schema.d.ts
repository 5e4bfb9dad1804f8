// Made of the OpenAPI document by `make clients`. Do not edit.

/** An invalid field. */
export interface FieldError {
  /** The field, as a JSON pointer (RFC 6901); for a query parameter or header, its name. */
  pointer: string;
  /** What is wrong with it. */
  code: string;
  /** Human-readable explanation of this occurrence. */
  detail: string;
  /** What was probably meant. */
  suggestion?: string;
}

/** A recipient that was not accepted. */
export interface Rejected {
  /** The recipient's index in `phones`, from 0; null for a contact of a group. */
  index: number | null;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "duplicate" | "suppressed" | "missing_variable" | "too_many_segments" | "unicode_rejected" | "destination_not_allowed" | "recipient_limit" | "message_empty" | "message_too_long" | "invalid_characters" | "unknown_field" | "wrong_type" | "invalid";
  /** Human-readable explanation; null if it was erased. */
  detail?: string | null;
  /** The phone that was probably meant; null if it was erased. */
  suggestion?: string | null;
  /** The index of the phone's first occurrence. */
  duplicate_of?: number;
}

/** A character that is not in GSM-7. */
export interface Character {
  /** Position in the message, in code points from 0. */
  index: number;
  /** The character. */
  char: string;
  /** Its Unicode code point. */
  codepoint: string;
  /** Its GSM-7 replacement; empty if the character is invisible and can be dropped, null if there is none. */
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

/** Why the text is UCS-2, or what was changed to avoid it. Absent if the given text is GSM-7. */
export interface Encoding {
  /** The encoding in which the text is sent. */
  name: "gsm7" | "ucs2";
  /** The first 20 characters that make it UCS-2, in order. If texts differ by recipient, only those of the message itself. */
  cause: Array<Character>;
  /** Number of such characters. */
  cause_count: number;
  /** The first 20 characters that were replaced, in order. */
  changed: Array<Character>;
  /** Number of replaced characters. */
  changed_count: number;
  /** What `on_unicode: transliterate` would send; null if it would change the meaning, or if the texts differ. */
  gsm7_alternative: Alternative | null;
}

/** RFC 9457 problem details, with additional members of some errors. */
export interface Error {
  /** URL that explains the error. */
  type: string;
  /** Human-readable summary. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** Human-readable explanation of this occurrence. */
  detail: string;
  /** The path of the request. */
  instance: string;
  /** Machine-readable code. */
  code: string;
  /** Also in X-Request-Id. Quote it when you contact the operator. */
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

/** Why a message was not delivered, or is in doubt. */
export interface MessageError {
  /** What went wrong, one of the codes of `GET /errors?kind=message`. */
  code: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_answer" | "worker_stopped" | "not_sent";
  /** Whether the same message to this phone would fail again. */
  permanent: boolean;
  /** The carrier at which it happened; null: no carrier had a part in it. */
  carrier: string | null;
  /** The carrier's own code; null if it gave none. */
  carrier_code: string | null;
  /** Human-readable meaning of the code. */
  text: string;
}

/** A message whose status changed. */
export interface MessageEventData {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** What it is now. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** Rises along the life of a message: ignore an event with less than you have. */
  sequence: number;
  /** The carrier's own code, or ours; null: nothing is wrong. */
  error: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error_details: MessageError | null;
  /** The sender ID. */
  sender_id: string | null;
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Your own data, as given. */
  metadata: Record<string, unknown> | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
}

/** An inbound message. */
export interface MessageReceivedData {
  /** The message from a phone. */
  inbound_id: string;
  /** The phone that sent it. */
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
  /** The kind of send. */
  kind: "single" | "bulk" | "group";
  /** The sender ID. */
  sender_id: string;
  /** The accepted recipients, by message status. */
  counts: Record<string, number>;
  /** Why the send is held. */
  held_reason: string | null;
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Your own data, as given. */
  metadata: Record<string, unknown> | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** When the last message was submitted or ended. */
  completed_at: string | null;
}

/** Phones added to the opt-out list together. Properties that differ between them are null. */
export interface SuppressionEventData {
  /** Phones added to the list. */
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

/** A webhook that was disabled. */
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
  /** When to send, at most 90 days ahead. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; by default 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The message's purpose, which decides its priority. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote. With the same body, the send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send. */
  metadata?: Record<string, unknown>;
  /** Digits only, starting with the country code. */
  phone: string;
  /** Values for the placeholders of the message, by name. */
  variables?: Record<string, string>;
}

/** The segments of one message. */
export interface Segments {
  /** Segments. */
  count: number;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
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
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** Current status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** Credits. */
  cost: number;
  /** Credits left to spend after this. */
  balance: number;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
  /** Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message reaches no phone. */
  simulated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7. */
  encoding?: Encoding;
  /** The message. */
  message_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** Number of segments, and their encoding. */
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
  /** When to send, at most 90 days ahead. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; by default 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The message's purpose, which decides its priority. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote. With the same body, the send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send. */
  metadata?: Record<string, unknown>;
  /** 1 to 100,000 phones: digits only, starting with the country code; or objects with `phone` and `variables`, values for the placeholders of the message. */
  phones: Array<string | {
    phone: string;
    variables?: Record<string, string>;
  }>;
}

/** The recipients of a request, counted. */
export interface Counts {
  /** Recipients in the request, or contacts in the group. */
  submitted: number;
  /** Recipients that a message will be sent to. */
  accepted: number;
  /** Dropped because they were listed before. */
  duplicate: number;
  /** Invalid phones, or recipients without a value that the message needs; see `rejected`. */
  invalid: number;
  /** Opted out, in a destination not allowed for the account, or over the recipient limit. */
  suppressed: number;
}

/** Segments of one message, and of all. */
export interface BulkSegments {
  /** Segments of each message; null if messages differ. */
  per_message: number | null;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
  encoding: "gsm7" | "ucs2";
  /** Segments of all messages; an upper bound for a group with placeholders until it is expanded. */
  total: number;
}

/** A recipient's message. */
export interface Accepted {
  /** The message. */
  message_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
}

/** An accepted bulk or group send. */
export interface Bulk {
  /** The send. */
  send_id: string;
  /** The sender ID. */
  sender_id: string;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** When it was accepted. */
  created_at: string;
  /** Current status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** Credits. */
  cost: number;
  /** Credits left to spend after this. */
  balance: number;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
  /** Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message reaches no phone. */
  simulated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7. */
  encoding?: Encoding;
  /** The group, for a group send. */
  group_id: string | null;
  /** Accepted and rejected recipients, counted. */
  counts: Counts;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** The recipients that were not accepted, at most 1,000. */
  rejected: Array<Rejected>;
  /** Whether there are more. */
  rejected_truncated?: boolean;
  /** The accepted recipients in order, at most 1,000; none for a group send. */
  messages: Array<Accepted>;
  /** Whether there are more messages; see `messages_url`. */
  messages_truncated?: boolean;
  /** URL that lists all messages of the send. */
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
  /** When to send, at most 90 days ahead. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; by default 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The message's purpose, which decides its priority. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote. With the same body, the send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send. */
  metadata?: Record<string, unknown>;
  /** A group of the account. */
  group_id: string;
}

/** The cost of a send and the recipients it would reject. */
export interface Quote {
  /** Accepted and rejected recipients, counted. */
  counts: Counts;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** The text of each segment; empty if messages differ. */
  parts: Array<string>;
  /** Credits. */
  cost: number;
  /** Pass it to the send as `quote_id`. */
  quote_id: string;
  /** When the quote expires: after 15 minutes. */
  quote_expires_at: string;
  /** Credits left to spend after this. */
  balance: number;
  /** Whether the balance covers the cost. */
  sufficient: boolean;
  /** The recipients that were not accepted, at most 1,000. */
  rejected: Array<Rejected>;
  /** Whether there are more. */
  rejected_truncated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7. */
  encoding?: Encoding;
}

/** An API key, without its secret. */
export interface ApiKey {
  /** The API key. */
  api_key: string;
  /** Your own name for the key. */
  name: string | null;
  /** Whether it is a test key: its messages reach no phone and use play credits. */
  test: boolean;
  /** Its scopes. */
  scopes: Array<string>;
  /** The networks that it may be used from; null means anywhere. */
  allowed_ips: Array<string> | null;
  /** Maximum requests per second; null means the account's limit. */
  requests_per_second: number | null;
  /** When it was created. */
  created_at: string;
  /** When it expires; null means never. */
  expires_at: string | null;
  /** When it was last used, to the minute; null if never. */
  last_used_at: string | null;
  /** When the previous secret expires; null if there is none. */
  old_secret_expires_at: string | null;
}

export interface ApiKeyPage {
  /** The entries. */
  data: Array<ApiKey>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A new key. Omitted properties, except scopes, are copied from the key in use. */
export interface MakeApiKey {
  /** Your own name for the key. */
  name?: string;
  /** Create a test key, for the sandbox. Defaults to the kind of the key in use. */
  test?: boolean;
  /** What it may be used for: of sms:send, sms:read, balance:read, groups:read, groups:write, keys:read, keys:write, senders:read, senders:write, suppressions:read, suppressions:write, webhooks:read, webhooks:write, privacy:write. Without it: `sms:send` and those to read, as far as the key in use has them. */
  scopes?: Array<"sms:send" | "sms:read" | "balance:read" | "groups:read" | "groups:write" | "keys:read" | "keys:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "privacy:write">;
  /** The networks or addresses that it may be used from. */
  allowed_ips?: Array<string>;
  /** Maximum requests per second. */
  requests_per_second?: number;
  /** When it expires. */
  expires_at?: string;
}

/** A new API key with its secret, which is shown only once: a replayed response does not contain it. */
export interface NewApiKey {
  /** The API key. */
  api_key: string;
  /** Your own name for the key. */
  name: string | null;
  /** Whether it is a test key: its messages reach no phone and use play credits. */
  test: boolean;
  /** Its scopes. */
  scopes: Array<string>;
  /** The networks that it may be used from; null means anywhere. */
  allowed_ips: Array<string> | null;
  /** Maximum requests per second; null means the account's limit. */
  requests_per_second: number | null;
  /** When it was created. */
  created_at: string;
  /** When it expires; null means never. */
  expires_at: string | null;
  /** When it was last used, to the minute; null if never. */
  last_used_at: string | null;
  /** When the previous secret expires; null if there is none. */
  old_secret_expires_at: string | null;
  /** The secret; store it now. Absent if `Idempotency-Replayed` is true. */
  api_secret?: string;
}

/** Options for rotating a key's secret. */
export interface RotateApiKey {
  /** How long the previous secret stays valid, in seconds: 0 to 604,800. */
  overlap_seconds?: number;
}

/** The key's new secret, which is shown only once: a replayed response does not contain it. */
export interface RotatedApiKey {
  /** The API key. */
  api_key: string;
  /** The new secret; store it now. Absent if `Idempotency-Replayed` is true. */
  api_secret?: string;
  /** When the previous secret expires, with the tokens issued for it. */
  old_secret_expires_at: string;
}

/** The key is revoked. */
export interface RevokedApiKey {
  /** The API key. */
  api_key: string;
  /** The key and its tokens are revoked. */
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
  /** Send it as `Authorization: Bearer …`. */
  access_token: string;
  /** Always Bearer. */
  token_type: "Bearer";
  /** Seconds until the token expires. */
  expires_in: number;
  /** When the token expires. */
  expires_at: string;
  /** What the token may be used for, separated by spaces. */
  scope: string;
}

/** The token to revoke; without it, the one in use. */
export interface RevokeToken {
  /** The token to revoke; without it, the one in use. */
  token?: string;
}

/** The token is revoked. */
export interface Revoked {
  /** The token is revoked. */
  revoked: boolean;
}

/** What can be spent, and what is reserved. */
export interface Balance {
  /** Credits left to spend; a 402 is decided by this. */
  balance: number;
  /** Credits reserved for unfinished messages. */
  reserved: number;
  /** One credit is one segment of an SMS. */
  unit: string;
  /** Below this the balance counts as low. */
  low_balance_threshold: number;
  /** When it last changed. */
  updated_at: string;
}

/** A row of the ledger. */
export interface Transaction {
  /** Increases with every row. */
  id: number;
  /** Why. */
  kind: "topup" | "reserve" | "capture" | "release" | "refund" | "reversal";
  /** Credits. */
  amount: number;
  /** The ledger account that the credits came from. */
  debit: string;
  /** The ledger account that the credits went to. */
  credit: string;
  /** The send. */
  send_id: string | null;
  /** The slice of the send's recipients. */
  batch_id: string | null;
  /** The message. */
  message_id: string | null;
  /** The reason for a top-up, its reversal, or a refund. */
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
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
}

export interface GroupPage {
  /** The entries. */
  data: Array<Group>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** The name of a new or renamed group. */
export interface GroupBody {
  /** The group's name. */
  name: string;
}

/** The group is deleted; sends to it that were already accepted continue. */
export interface DeletedGroup {
  /** The group. */
  group_id: string;
  /** The group is deleted. */
  deleted: boolean;
}

/** A contact of a group. */
export interface Contact {
  /** Digits only, starting with the country code. */
  phone: string;
  /** Texts by name, for placeholders in messages. */
  fields: Record<string, string>;
  /** Labels to filter contacts by. */
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

/** The entries of a request, counted. */
export interface ContactCounts {
  /** Entries in the request. */
  submitted: number;
  /** Contacts added to the group. */
  added: number;
  /** Contacts whose fields or tags were changed. */
  changed: number;
  /** Contacts that were already in the group, unchanged. */
  unchanged: number;
  /** Rejected because the phone was listed before. */
  duplicate: number;
  /** Rejected; see `rejected`. */
  invalid: number;
}

/** A rejected entry. */
export interface RejectedContact {
  /** The entry's index in `contacts`, from 0. */
  index: number;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "duplicate" | "unknown_field" | "wrong_type" | "invalid" | "too_long";
  /** Human-readable reason. */
  detail: string;
  /** The index of the phone's first occurrence. */
  duplicate_of?: number;
}

/** The valid contacts are in the group. */
export interface PutContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** Added and rejected entries, counted. */
  counts: ContactCounts;
  /** The rejected entries, at most 1,000. */
  rejected: Array<RejectedContact>;
  /** Whether there are more. */
  rejected_truncated?: boolean;
}

/** Phones to remove from a group. */
export interface PhonesBody {
  /** 1 to 100,000 phones, in international form or as written in the account's country. */
  phones: Array<string>;
}

/** The phones were removed from the group. */
export interface RemovedContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** Contacts removed from the group. */
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
  /** Your own description. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why the webhook is disabled; null while it is active. */
  disabled_reason: string | null;
  /** Since when all posts have failed; null if the last one succeeded. */
  failing_since: string | null;
  /** Rises by one with each rotation of the secret. */
  secret_version: number;
  /** Until when posts are also signed with the previous secret; null if they are not. */
  previous_secret_until: string | null;
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
}

export interface WebhookPage {
  /** The entries. */
  data: Array<Webhook>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A new webhook. Without `url` it receives the events of sends with a `callback_url`. */
export interface WebhookBody {
  /** Where events are posted; null: to each send's `callback_url`. */
  url?: string;
  /** The types of events that are posted; null: all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "webhook.disabled"> | null;
  /** Your own description. */
  description?: string | null;
}

/** A webhook with its new secret, which is shown only once. */
export interface Secret {
  /** The webhook. */
  webhook_id: string;
  /** Where events are posted; null: to each send's `callback_url`. */
  url: string | null;
  /** The types of events that are posted; null: all. */
  events: Array<string> | null;
  /** Your own description. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why the webhook is disabled; null while it is active. */
  disabled_reason: string | null;
  /** Since when all posts have failed; null if the last one succeeded. */
  failing_since: string | null;
  /** Rises by one with each rotation of the secret. */
  secret_version: number;
  /** Until when posts are also signed with the previous secret; null if they are not. */
  previous_secret_until: string | null;
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
  /** The secret that signs posts. Shown only once. */
  secret: string;
}

/** Changes to a webhook. */
export interface WebhookChange {
  /** Where events are posted; null: to each send's `callback_url`. */
  url?: string;
  /** The types of events that are posted; null: all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "webhook.disabled"> | null;
  /** Your own description. */
  description?: string | null;
  /** `active` posts events from now on; POST …/recover posts those that were missed. */
  status?: "active" | "disabled";
}

/** The webhook is deleted. */
export interface DeletedWebhook {
  /** The webhook. */
  webhook_id: string;
  /** The webhook is deleted. */
  deleted: boolean;
}

/** A test event, posted only to this webhook. */
export interface Test {
  /** The webhook. */
  webhook_id: string;
  /** The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream. */
  event_id: string;
  /** Always `webhook.test`. */
  type: string;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  /** The webhook. */
  webhook_id: string;
  /** The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream. */
  event_id: string;
  /** What happened. */
  type: string;
  /** `failed` after the last attempt. */
  status: "pending" | "delivered" | "failed";
  /** Number of attempts. */
  attempts: number;
  /** When it is attempted again, if pending. */
  next_attempt_at: string | null;
  /** Where it was posted. */
  url: string;
  /** The last attempt's HTTP status; null if there was no response. */
  http_status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** How long the last attempt took. */
  milliseconds: number | null;
  /** When it was first attempted. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
}

export interface DeliveryPage {
  /** The entries. */
  data: Array<Delivery>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Since when to post undelivered events again. */
export interface RecoverBody {
  /** At most 8 days ago. */
  since: string;
}

/** Undelivered events since then will be posted again. */
export interface Recover {
  /** The webhook. */
  webhook_id: string;
  /** From then on. */
  since: string;
}

/** An error code of a single field, explained. */
export interface FieldCode {
  /** What is wrong with the field. */
  code: string;
  /** What to do about it. */
  remediation: string;
}

/** An error code, explained. */
export interface ErrorEntry {
  /** Machine-readable code. */
  code: string;
  /** Whether requests or messages have this error. */
  kind: "request" | "message";
  /** The HTTP status; null for message errors. */
  status: number | null;
  /** Whether the same message would fail again; null for request errors. */
  permanent: boolean | null;
  /** Human-readable summary. */
  title: string;
  /** Human-readable meaning; null for request errors. */
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
  /** When the event happened. */
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

/** The rows read so far, counted. */
export interface ImportCounts {
  /** Rows that were read, without the header. */
  rows: number;
  /** Contacts added to the group. */
  added: number;
  /** Contacts whose fields or tags were changed. */
  changed: number;
  /** Contacts that were already in the group, unchanged. */
  unchanged: number;
  /** Rows that are not valid contacts. */
  invalid: number;
}

/** An import of a file of contacts into a group. */
export interface Import {
  /** The import. */
  import_id: string;
  /** The group. */
  group_id: string;
  /** Current status. */
  status: "queued" | "running" | "completed" | "failed" | "canceled";
  /** The country whose national number format the file uses; null: international numbers only. */
  country: string | null;
  /** The file's size, as UTF-8. */
  bytes: number;
  /** Bytes read so far. */
  bytes_done: number;
  /** The rows read so far, counted. */
  counts: ImportCounts;
  /** Why the import failed. */
  error: string | null;
  /** URL that lists the rows that are not valid contacts. */
  errors_url: string;
  /** When the upload was complete. */
  created_at: string;
  /** When it finished. */
  finished_at: string | null;
}

export interface ImportPage {
  /** The entries. */
  data: Array<Import>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** A row that is not a valid contact. */
export interface ImportError {
  /** The row's first line in the file, from 1. */
  line: number;
  /** The row's phone as it was given, cut to 40 characters. */
  value: string;
  /** Why it is not a valid contact. */
  code: "invalid_phone" | "invalid";
  /** Human-readable reason. */
  detail: string;
}

export interface ImportErrorPage {
  /** The entries. */
  data: Array<ImportError>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** An inbound message. */
export interface Inbound {
  /** The message from a phone. */
  inbound_id: string;
  /** The phone that sent it. */
  phone: string;
  /** The number of yours that it was sent to. */
  sender_id: string;
  /** The text. */
  message: string;
  /** What a message that is nothing but such a word asks for: `stop` to be written to no more, `start` the opposite. Null for every other message. */
  keyword: "stop" | "start" | null;
  /** Number of segments. */
  segments: number;
  /** Segments that never arrived; the text is then incomplete. */
  missing_segments: number;
  /** The carrier that delivered it. */
  carrier: string;
  /** When it was received. */
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

/** The limits of the service and the account, and the account's backlog. */
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
  /** Requests per second that the account may make. */
  requests_per_second: number;
  /** What costs as much as one request; the account's next requests pay for what was too much. */
  request_cost: RequestCost;
  /** Maximum entries per page. */
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
  /** The account's messages waiting to be sent. */
  backlog_messages: number;
  /** What the largest send of the backlog waits for: as `limited_by` of a send. */
  backlog_limited_by: string | null;
  /** Estimated time at which the last queued message is submitted; null if unknown. */
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

/** A send, its status and its counts. */
export interface Send {
  /** The send. */
  send_id: string;
  /** The kind of send. */
  kind: "single" | "bulk" | "group";
  /** Current status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** The sender ID. */
  sender_id: string;
  /** The text; `{{name}}` and `{{name|default}}` are placeholders. */
  message: string;
  /** The group, for a group send. */
  group_id: string | null;
  /** Recipients by outcome of acceptance, and accepted ones by message status. */
  counts: Record<string, number>;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** Credits reserved when the send was accepted. */
  cost: number;
  /** Credits of its messages that a carrier took: `sent`, `delivered` and `undelivered`. What is neither charged nor waiting, sending or in doubt was given back. */
  charged: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Your own data, as given. */
  metadata: Record<string, unknown> | null;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url: string | null;
  /** Maximum segments per second; null means as fast as the route allows. */
  rate: number | null;
  /** When the send is to be held because messages fail; null: never, or not any more. */
  stop_if: StopRule | null;
  /** When nothing of it is sent, by the clock of the recipient; null: at no time. */
  quiet_hours: QuietHoursRule | null;
  /** How many messages of its category a phone gets, by the rule of the account; null: any number. */
  cap: Cap | null;
  /** How many messages go first; null: there is no canary, or it is over. */
  canary: number | null;
  /** Estimated time at which the last message is submitted; null if unknown. */
  eta: string | null;
  /** What it waits for at present, one of: `send_at`, `paused`, `held`, `carrier_paused`, `carrier_down`, `no_worker`, `send_rate`, `sender_rate`, `prefix_rate`, `canary`, `quiet_hours`, `retry`, `throttled`, `carrier_rate`, `queue_turn`, `window`. `carrier_rate` is the usual one of a large send; `sender_rate`, `prefix_rate`: its sender ID, or the numbers that it goes to, may have no more a second; `queue_turn`: others are before it; `throttled`: the carrier asked for less; `retry`: it goes again in a moment. Null: nothing waits. */
  limited_by: string | null;
  /** Submits that were repeated because an earlier one had no answer; only where the operator wants it. */
  resent: number;
  /** What holds it: `operator`, `crashes` (of workers that sent or prepared it: the operator looks), `sender_id` (suspended), `canary` or `stop_if`. The last two go on by `resume`. */
  held_by: "operator" | "crashes" | "sender_id" | "canary" | "stop_if" | null;
  /** Why the send is held. */
  held_reason: string | null;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** URL that lists all messages of the send. */
  messages_url: string;
  /** When it was accepted. */
  created_at: string;
  /** When the last message was submitted or ended. */
  completed_at: string | null;
}

export interface SendPage {
  /** The entries. */
  data: Array<Send>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Changes to a send. */
export interface SendChanges {
  /** When it is due: at most 90 days ahead. Null, or up to 60 seconds ago: now. An `expires_at` that was not chosen moves with it. */
  send_at?: string | null;
  /** When unsent messages expire. */
  expires_at?: string;
  /** Maximum segments per second; null means as fast as the route allows. */
  rate?: number | null;
  /** The text; `{{name}}` and `{{name|default}}` are placeholders. */
  message?: string;
  /** What to do with a message that does not fit GSM-7. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
}

/** One SMS to one phone. */
export interface Message {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** Current status. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** The sender ID. */
  sender_id: string;
  /** Segments of this message. */
  segments: number;
  /** Credits; 0 if they were released. */
  cost: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that took it, or was the last to refuse it; null: none was asked. */
  carrier: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits; null: none, or the phone was erased. */
  country: string | null;
  /** The group, for a group send. */
  group_id: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error: MessageError | null;
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
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
  /** The carrier that it was submitted to. */
  carrier: string | null;
  /** The route and why it led to that carrier; null where there is one carrier only. */
  route: string | null;
  /** When it was submitted. */
  submitted_at: string;
  /** When the carrier responded; null if it did not. */
  answered_at: string | null;
  /** What it was answered: `rejected` is for good, `failed` for this time, `in_doubt` is no answer. */
  answer: "accepted" | "rejected" | "failed" | "in_doubt";
  /** The carrier's own code; null if it gave none. */
  carrier_code: string | null;
  /** Milliseconds from the submit to the answer; null: no answer came, or it is not known. */
  latency_ms: number | null;
}

/** An event in a message's timeline. */
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
  /** Number of submits to a carrier. */
  attempts?: number;
  /** The error; null if there was none. */
  error?: MessageError | null;
  /** Human-readable explanation of this occurrence. */
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

/** A message that was submitted without a response from the carrier. */
export interface Doubt {
  /** When the wait for a response ended. */
  since: string;
  /** Why: a code of `GET /errors?kind=message`. */
  reason: string;
  /** When the doubt was resolved; null if it was not. */
  resolved_at: string | null;
  /** What ended the doubt: an answer after all, a receipt, the operator, a report of the carrier, or the end of its validity; null: nothing so far. */
  resolved_by: "answer" | "receipt" | "operator" | "reconciliation" | "validity" | null;
  /** What the carrier told: its id of the message, or its code; null: nothing. */
  evidence: string | null;
}

/** One SMS to one phone, with its text and timeline. */
export interface MessageDetail {
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** Current status. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** The sender ID. */
  sender_id: string;
  /** Segments of this message. */
  segments: number;
  /** Credits; 0 if they were released. */
  cost: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that took it, or was the last to refuse it; null: none was asked. */
  carrier: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits; null: none, or the phone was erased. */
  country: string | null;
  /** The group, for a group send. */
  group_id: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error: MessageError | null;
  /** Your own reference, returned wherever the send appears. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** When it was handed to the carrier; where a crash left it in doubt, no later than this. Null: it was not. */
  submitted_at: string | null;
  /** When the last word on it came: of a canceled or expired one, when it ended. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
  /** The text as it is sent to this phone, with its values; null: it was erased. */
  text: string | null;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
  encoding: "gsm7" | "ucs2";
  /** The text of each segment. */
  parts: Array<string>;
  /** Each submit to a carrier, oldest first; throttled ones are not counted. */
  attempts: Array<Attempt>;
  /** Events, oldest first. */
  timeline: Array<Event>;
  /** Why it was in doubt, and what resolved it; null if it never was. */
  doubt: Doubt | null;
}

/** The timeline of one message, oldest first. */
export interface Events {
  /** The message. */
  message_id: string;
  /** Events, oldest first. */
  data: Array<Event>;
}

/** The phone of the person to be erased. */
export interface ErasureBody {
  /** Digits only, starting with the country code. */
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
  /** The erasure; keep the id as the receipt. */
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
  /** Credits left to spend after this. */
  balance: number;
  /** Credits reserved for unfinished messages. */
  reserved: number;
}

/** A sender ID and its status. */
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

/** The sender ID is deleted. */
export interface Deleted {
  /** It is no more. */
  deleted: boolean;
}

/** A phone that has opted out, and of what. */
export interface Suppression {
  /** Digits only, starting with the country code. */
  phone: string;
  /** Has opted out of this category only; null: of all. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** Has opted out of messages from this sender ID only; null: from all. */
  sender_id: string | null;
  /** Why: `stop` where the phone's owner wrote so. */
  reason: string;
  /** When it was added to the list. */
  created_at: string;
}

export interface SuppressionPage {
  /** The entries. */
  data: Array<Suppression>;
  /** The `cursor` of the next page; null on the last. */
  next_cursor: string | null;
}

/** Phones to add to the opt-out list. */
export interface SuppressionsBody {
  /** Only of messages of this category; without it, of all. */
  category?: "authentication" | "transactional" | "marketing";
  /** Only of messages from this sender ID; without it, from all. */
  sender_id?: string;
  /** 1 to 100,000 phones, in international form or as written in the account's country. */
  phones: Array<string>;
  /** The reason, for your own records. */
  reason?: string;
}

/** The entries of a request, counted. */
export interface SuppressedCounts {
  /** Entries in the request. */
  submitted: number;
  /** Phones added to the list. */
  added: number;
  /** Phones already on the list. */
  unchanged: number;
  /** Listed before in this request. */
  duplicate: number;
  /** Rejected; see `rejected`. */
  invalid: number;
}

/** A rejected entry. */
export interface RejectedSuppression {
  /** The entry's index in the list, from 0. */
  index: number;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why. */
  code: "invalid_phone" | "invalid";
  /** Human-readable reason. */
  detail: string;
}

/** The valid phones are on the opt-out list. */
export interface Suppressed {
  /** Added and rejected entries, counted. */
  counts: SuppressedCounts;
  /** The rejected entries, at most 1,000. */
  rejected: Array<RejectedSuppression>;
  /** Whether there are more. */
  rejected_truncated?: boolean;
}

/** The opt-outs were removed. */
export interface Unsuppressed {
  /** Digits only, starting with the country code. */
  phone: string;
  /** Opt-outs removed from the list. */
  removed: number;
}

/** A count of messages with a result. Dimensions that they are not grouped by are null. */
export interface Usage {
  /** The day on which the send was accepted, UTC; null where not counted by it. */
  day: string | null;
  /** The sender ID; null if not grouped by it. */
  sender_id: string | null;
  /** Two letters of ISO 3166-1, by the phone's first digits. Null where it is not counted by it, for phones of no country, and for messages that ended with their send and were never handed over. */
  country: string | null;
  /** The messages' category; null if not grouped by it. */
  category: string | null;
  /** What became of them; null where not counted by it. */
  status: "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" | null;
  /** Number of messages. */
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
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageDeliveredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageUndeliveredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageFailedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageRejectedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageExpiredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageCanceledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageInDoubtEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageEventData;
}

export interface MessageReceivedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: MessageReceivedData;
}

export interface SendCompletedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SendCanceledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SendHeldEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SendEventData;
}

export interface SuppressionCreatedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SuppressionEventData;
}

export interface SenderIdApprovedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface SenderIdRejectedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface SenderIdSuspendedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: SenderIdEventData;
}

export interface BalanceLowEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: LowBalanceData;
}

export interface WebhookDisabledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What it is about. */
  data: WebhookDisabledData;
}

export interface WebhookTestEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
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
  /** Create an API key with at most the permissions of the key in use. Its secret is shown only once. */
  createApiKey(request: { body: MakeApiKey; key?: string; signal?: AbortSignal }): Promise<NewApiKey>;
  /** Create a new secret for a key, shown only once. The old one works until old_secret_expires_at. */
  rotateApiKeySecret(request: { path: { key_id: string }; body: RotateApiKey; key?: string; signal?: AbortSignal }): Promise<RotatedApiKey>;
  /** Revoke a key. It and its tokens stop working within five seconds. */
  revokeApiKey(request: { path: { key_id: string }; signal?: AbortSignal }): Promise<RevokedApiKey>;
  /** Exchange an API key and secret for a bearer token, valid for 24 hours. */
  createToken(request?: { body?: Credentials; signal?: AbortSignal }): Promise<Token>;
  /** Revoke the token in use, or the one given as token. It stops working within five seconds. */
  revokeAccessToken(request?: { body?: RevokeToken; signal?: AbortSignal }): Promise<Revoked>;
  /** Show the credits left to spend, and those reserved. A 402 is decided by balance. */
  getBalance(request?: { signal?: AbortSignal }): Promise<Balance>;
  /** List the ledger, newest first: every credit, tied to its send, batch or message. */
  listTransactions(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<TransactionPage>;
  /** List the contact groups with their contact counts. Without parameters, all of them. */
  listGroups(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<GroupPage>;
  /** Create an empty group. */
  createGroup(request: { body: GroupBody; key?: string; signal?: AbortSignal }): Promise<Group>;
  /** Show one group. */
  getGroup(request: { path: { group_id: string }; signal?: AbortSignal }): Promise<Group>;
  /** Rename a group. */
  renameGroup(request: { path: { group_id: string }; body: GroupBody; signal?: AbortSignal }): Promise<Group>;
  /** Delete a group and its contacts. Sends already accepted continue, and the name becomes available. */
  deleteGroup(request: { path: { group_id: string }; signal?: AbortSignal }): Promise<DeletedGroup>;
  /** List the contacts of a group in the order they were added; with Accept: text/csv, stream all as CSV. */
  listContacts(request: { path: { group_id: string }; query?: { limit?: number; cursor?: string; phone?: string; tag?: string }; signal?: AbortSignal }): Promise<ContactPage>;
  /** Add up to 100,000 contacts to a group, and change those that are in it. */
  addContacts(request: { path: { group_id: string }; body: ContactsBody; key?: string; signal?: AbortSignal }): Promise<PutContacts>;
  /** Remove up to 100,000 phones from a group. Phones that are not in it are counted as absent. */
  removeContacts(request: { path: { group_id: string }; body: PhonesBody; signal?: AbortSignal }): Promise<RemovedContacts>;
  /** List the account's webhooks. */
  listWebhooks(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<WebhookPage>;
  /** Create a webhook, signed according to Standard Webhooks 1.0. Only this response contains its secret. */
  createWebhook(request: { body: WebhookBody; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Show one webhook. */
  getWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<Webhook>;
  /** Change, disable or enable a webhook. Events from while it was disabled are posted only after POST …/recover. */
  updateWebhook(request: { path: { webhook_id: string }; body: WebhookChange; signal?: AbortSignal }): Promise<Webhook>;
  /** Delete a webhook and the log of its deliveries. Posts in progress may still arrive. */
  deleteWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<DeletedWebhook>;
  /** Create a new secret. For 24 hours posts are also signed with the previous one, so that receivers can switch. */
  rotateWebhookSecret(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Post a webhook.test event to this webhook. Its outcome is among the deliveries. */
  testWebhook(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Test>;
  /** List the webhook's deliveries, newest first. Events that wait for their first attempt are not included. */
  listDeliveries(request: { path: { webhook_id: string }; query?: { limit?: number; cursor?: string; status?: "pending" | "delivered" | "failed" }; signal?: AbortSignal }): Promise<DeliveryPage>;
  /** Post an event to this webhook again, with the same id, whatever its status. */
  replayDelivery(request: { path: { webhook_id: string; event_id: string }; key?: string; signal?: AbortSignal }): Promise<Delivery>;
  /** Post all undelivered events since a time, including those from while the webhook was disabled. */
  recoverWebhook(request: { path: { webhook_id: string }; body: RecoverBody; key?: string; signal?: AbortSignal }): Promise<Recover>;
  /** List every error code: of requests, or with kind=message of messages. */
  listErrors(request?: { query?: { kind?: "request" | "message" }; signal?: AbortSignal }): Promise<ErrorEntryPage>;
  /** Explain one error code, of requests or of messages. */
  getError(request: { path: { code: string }; signal?: AbortSignal }): Promise<ErrorEntry>;
  /** Read events, oldest first, starting after the last one that you handled. */
  listEvents(request?: { query?: { limit?: number; cursor?: string; after?: string; types?: string }; signal?: AbortSignal }): Promise<StreamEventPage>;
  /** Import a CSV file of up to 100 MB into a group, in the background. */
  importContacts(request: { path: { group_id: string }; query?: { country?: string }; body: string; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the imports, newest first. */
  listImports(request?: { query?: { limit?: number; cursor?: string; group_id?: string }; signal?: AbortSignal }): Promise<ImportPage>;
  /** Show the progress of an import. */
  getImport(request: { path: { import_id: string }; signal?: AbortSignal }): Promise<Import>;
  /** List the rows that are not valid contacts, in order; with Accept: text/csv, stream all of them as CSV. */
  listImportErrors(request: { path: { import_id: string }; query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ImportErrorPage>;
  /** Stop an import. Contacts imported so far stay in the group. */
  cancelImport(request: { path: { import_id: string }; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the messages that phones sent to the account's numbers, newest first. */
  listInboundMessages(request?: { query?: { limit?: number; cursor?: string; phone?: string; sender_id?: string; keyword?: "stop" | "start"; since?: string; until?: string }; signal?: AbortSignal }): Promise<InboundPage>;
  /** List all limits, and the account's backlog. */
  getLimits(request?: { signal?: AbortSignal }): Promise<Limits>;
  /** List the account's sends, newest first. */
  listSends(request?: { query?: { limit?: number; cursor?: string; status?: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled"; reference?: string }; signal?: AbortSignal }): Promise<SendPage>;
  /** Show one send: its status, counts per message status, cost, and estimated completion. */
  getSend(request: { path: { send_id: string }; signal?: AbortSignal }): Promise<Send>;
  /** Change when a send is due or expires, its rate, or its text. */
  updateSend(request: { path: { send_id: string }; body: SendChanges; signal?: AbortSignal }): Promise<Send>;
  /** Cancel the messages not yet submitted to a carrier and release their credits. Also needs the scope sms:read. */
  cancelSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Stop submitting messages until the send is resumed. Also needs the scope sms:read. */
  pauseSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Resume a paused send, or one held by its canary or stop_if, which then no longer applies. */
  resumeSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** List the messages of a send in order; with Accept: text/csv, stream all of them as CSV. */
  listSendMessages(request: { path: { send_id: string }; query?: { limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" }; signal?: AbortSignal }): Promise<MessagePage>;
  /** List the account's messages, newest send first, with filters. */
  listMessages(request?: { query?: { limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered"; phone?: string; error?: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_answer" | "worker_stopped" | "not_sent"; permanent?: boolean; carrier?: string; country?: string; reference?: string; group_id?: string; since?: string; until?: string }; signal?: AbortSignal }): Promise<MessagePage>;
  /** Show one message: its text as it is sent to this phone, every attempt, and what happened to it. */
  getMessage(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<MessageDetail>;
  /** Show a message's timeline: acceptance, attempts, the carrier's responses, doubt and receipts. */
  listMessageEvents(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<Events>;
  /** Erase a person: the phone wherever the account has it, the texts that only it was sent, what it sent. */
  createErasure(request: { body: ErasureBody; key?: string; signal?: AbortSignal }): Promise<Erasure>;
  /** List the erasures, newest first. */
  listErasures(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ErasurePage>;
  /** Show one erasure: whether it is complete, and what was erased. */
  getErasure(request: { path: { erasure_id: string }; signal?: AbortSignal }): Promise<Erasure>;
  /** Fill the play credits of the sandbox up to 1,000,000 again. Only test keys have play credits. */
  refillSandbox(request?: { key?: string; signal?: AbortSignal }): Promise<Refill>;
  /** List the account's sender IDs and their status. */
  listSenderIds(request?: { query?: { limit?: number; cursor?: string; status?: "pending" | "approved" | "rejected" | "suspended" }; signal?: AbortSignal }): Promise<SenderPage>;
  /** Request a sender ID, or request a rejected one again. */
  requestSenderId(request: { body: SenderRequest; key?: string; signal?: AbortSignal }): Promise<Sender>;
  /** Delete a sender ID. Sends already accepted continue; a suspended sender ID cannot be deleted. */
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
