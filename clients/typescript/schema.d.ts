// Generated from the OpenAPI document by `make clients`. Do not edit.

/** An invalid field. */
export interface FieldError {
  /** The field, as a JSON pointer (RFC 6901); also for a query parameter or header. */
  pointer: string;
  /** What is wrong with the field. */
  code: string;
  /** Human-readable explanation of this occurrence. */
  detail: string;
  /** The value that was probably meant. */
  suggestion?: string;
}

/** A recipient that was not accepted. */
export interface Rejected {
  /** The recipient's index in `phones`, from 0; null for a contact of a group. */
  index: number | null;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why it was rejected. */
  code: "invalid_phone" | "duplicate" | "suppressed" | "missing_variable" | "too_many_segments" | "unicode_rejected" | "destination_not_allowed" | "no_price" | "recipient_limit" | "message_empty" | "message_too_long" | "invalid_characters" | "unknown_field" | "wrong_type" | "invalid";
  /** Human-readable explanation; null if it was erased. */
  detail?: string | null;
  /** The phone number that was probably meant; null if it was erased. */
  suggestion?: string | null;
  /** The index of the phone number's first occurrence. */
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
  /** Number of all these characters. */
  cause_count: number;
  /** The first 20 characters that were replaced, in order. */
  changed: Array<Character>;
  /** Number of replaced characters. */
  changed_count: number;
  /** What `on_unicode: transliterate` would send; null if it would change the meaning, or if the texts differ. */
  gsm7_alternative: Alternative | null;
}

/** Problem details (RFC 9457), with additional members for some errors. */
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
  /** The request's id, also in X-Request-Id. Quote it to the operator. */
  request_id: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** What to do about it. */
  remediation: string;
  /** For `validation_failed`: the invalid fields, at most 100. */
  errors?: Array<FieldError>;
  /** For `validation_failed`: number of all errors. */
  errors_total?: number;
  /** For `no_valid_recipients` and `no_valid_contacts`: the rejected entries, at most 100. */
  rejected?: Array<Rejected>;
  /** For `unicode_rejected`: the characters that are not in GSM-7. */
  encoding?: Encoding;
  /** For `low_balance`, `spend_limit_reached` and `quote_changed`: credits needed. */
  required?: number;
  /** For `low_balance`: credits left to spend. */
  balance?: number;
  /** For `too_many_recipients`: maximum recipients of a request. */
  max?: number;
  /** For `too_many_recipients`: recipients in the request. */
  submitted?: number;
  /** For `quote_changed`: credits quoted. */
  quoted?: number;
  /** For `too_many_segments`: segments of the message. */
  segments?: number;
  /** For `too_many_segments`: the request's `max_segments`. */
  max_segments?: number;
  /** For `spend_limit_reached`: credits allowed in the period. */
  spend_limit?: number;
  /** For `spend_limit_reached`: credits reserved in the period so far. */
  spent?: number;
  /** For `spend_limit_reached`: the period of the limit. */
  period?: "day" | "month";
  /** For `spend_limit_reached`: when the period ends. */
  resets_at?: string;
  /** For `traffic_refused`: the rule that was violated. */
  rule?: "block" | "burst" | "unused";
  /** For `traffic_refused`: the common prefix of the phone numbers. */
  prefix?: string;
  /** For `traffic_refused`: number of these phone numbers in the window. */
  phones?: number;
  /** For `traffic_refused`: the usual maximum of such phone numbers. */
  most?: number;
  /** For `traffic_refused`: length of the window. */
  window_seconds?: number;
  /** For `verification_limit`: the open verification. */
  verification_id?: string;
  /** For `sender_not_approved` and `state_conflict`: the sender ID's status. */
  sender_status?: string;
  /** For `insufficient_scope`: the scope that is missing. */
  scope?: string;
  /** For `state_conflict`: the message's current status. */
  message_status?: string;
  /** For `state_conflict`: the send's current status. */
  send_status?: string;
}

/** Why a message was not delivered or is in doubt. */
export interface MessageError {
  /** What went wrong: a code from `GET /errors?kind=message`. */
  code: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "recipient_opted_out" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_response" | "worker_stopped" | "not_sent";
  /** Whether the same message to this phone number would fail again. */
  permanent: boolean;
  /** The carrier that reported it; null if no carrier was involved. */
  carrier: string | null;
  /** The carrier's own code; null if it gave none. */
  carrier_code: string | null;
  /** Human-readable meaning of the code. */
  text: string;
}

/** A message whose status changed. */
export interface MessageEventData {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** The message. */
  message_id: string;
  /** The send. */
  send_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** The new status. */
  status: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
  /** Increases as the message advances. Ignore an event with a lower `sequence` than you have. */
  sequence: number;
  /** The carrier's error code, or ours; null if there is no error. */
  error: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error_details: MessageError | null;
  /** The sender ID. */
  sender_id: string | null;
  /** Your own data, as you sent it. */
  metadata: Record<string, unknown> | null;
}

/** An inbound message. */
export interface MessageReceivedData {
  /** The inbound message. */
  inbound_id: string;
  /** The phone number that sent it. */
  phone: string;
  /** Your number that received it. */
  sender_id: string;
  /** The text. */
  message: string;
  /** What the text asks for, as in GET /inbound; null if nothing. */
  keyword: "stop" | "start" | "possible_stop" | null;
}

/** A send that ended or is held. */
export interface SendEventData {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** The send. */
  send_id: string;
  /** The new status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** The kind of send. */
  kind: "single" | "bulk" | "group";
  /** The sender ID. */
  sender_id: string;
  /** Accepted recipients, and messages with a result by status. */
  counts: Record<string, number>;
  /** Why the send is held; null if it is not. */
  held_reason: string | null;
  /** Your own data, as you sent it. */
  metadata: Record<string, unknown> | null;
  /** When it was accepted. */
  created_at: string;
  /** When the last message was submitted or ended. */
  completed_at: string | null;
}

/** Phone numbers added to the opt-out list together. Properties that differ between them are null. */
export interface SuppressionEventData {
  /** Phone numbers added to the list. */
  added: number;
  /** The phone number, if only one was added. */
  phone: string | null;
  /** The category that the opt-out applies to; null means all. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** The sender ID that the opt-out applies to; null means all. */
  sender_id: string | null;
  /** The reason; `stop` if the number's owner replied STOP. */
  reason: string | null;
}

/** A decision about a sender ID. */
export interface SenderIdEventData {
  /** The sender ID. */
  sender_id: string;
  /** The operator's reason; null if none was given. */
  reason: string | null;
}

/** A balance that fell below its threshold. */
export interface LowBalanceData {
  /** Credits left to spend. */
  balance: number;
  /** Below this the balance counts as low. */
  low_balance_threshold: number;
}

/** Charges of a month that reached the account's threshold. */
export interface SpendThresholdData {
  /** The month, in UTC. */
  month: string;
  /** Credits charged for the messages accepted in it, until now. */
  credits: number;
  /** The threshold. */
  spend_threshold: number;
}

/** A month that is over and counted. */
export interface StatementClosedData {
  /** The month, UTC, by the time of posting. */
  month: string;
  /** Whether the month is over and counted: then it never changes. */
  closed: boolean;
  /** Available and reserved credits when the month began. */
  opening: number;
  /** Credits of top-ups. */
  top_ups: number;
  /** Credits of reversed top-ups; negative. */
  reversals: number;
  /** Credits of adjustments; negative if more were taken than given. */
  adjustments: number;
  /** Credits charged for messages; negative. A reserve is not charged yet. */
  charges: number;
  /** Credits of refunds. */
  refunds: number;
  /** Available and reserved credits when it ended, or now. */
  closing: number;
}

/** Prices that will change, by the number of destinations; or will not, if the version was withdrawn. */
export interface PriceChangedData {
  /** The price list; null: none, so that a segment costs one credit. */
  list: string | null;
  /** Its version. */
  version: number | null;
  /** From when the prices are valid. */
  valid_from: string;
  /** Whether this was announced before, and does not happen. */
  withdrawn: boolean;
  /** Prices that are higher. */
  raised: number;
  /** Prices that are lower. */
  lowered: number;
  /** Destinations that can be sent to from then on. */
  added: number;
  /** Destinations that cannot be sent to any more. */
  removed: number;
}

/** A verification whose code was entered. */
export interface VerificationApprovedData {
  /** The verification. */
  verification_id: string;
  /** What the code is for. */
  purpose: string;
}

/** A webhook that was disabled. */
export interface WebhookDisabledData {
  /** The webhook. */
  webhook_id: string;
  /** Where events were posted. */
  url: string | null;
  /** Why it was disabled. */
  reason: string;
}

/** A test of a webhook. */
export interface WebhookTestData {
  /** The webhook. */
  webhook_id: string;
}

/** Hours in which messages wait, in the recipient's local time. */
export interface QuietHours {
  /** When they begin. */
  from: string;
  /** When they end; earlier than `from` means on the next day. */
  until: string;
}

/** One message to one phone. */
export interface SingleSend {
  /** A sender ID registered by the account. */
  sender_id: string;
  /** The text: 1 to 1,600 characters, not blank. `{{name}}` and `{{name|default}}` are placeholders. */
  message: string;
  /** When to send, at most 90 days ahead; defaults to now. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; defaults to 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The send's purpose, which decides its priority. Use `marketing` for campaigns: an account's sends of one category go in order, so a `transactional` campaign delays your other transactional messages. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that keeps its meaning, or `reject` the request. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone number as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second; without it, as fast as the route allows. A single second may have up to 30 % more if the previous ones had less. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote for the same body. The send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send and in its events. */
  metadata?: Record<string, unknown>;
  /** Digits only, starting with the country code. */
  phone: string;
  /** The values of the message's placeholders, by name. */
  variables?: Record<string, string>;
}

/** The segments of one message. */
export interface Segments {
  /** Number of segments. */
  count: number;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
  encoding: "gsm7" | "ucs2";
  /** Number of Unicode code points. */
  characters: number;
}

/** An accepted message. */
export interface Single {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** The send. */
  send_id: string;
  /** The sender ID. */
  sender_id: string;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** When it was accepted. */
  created_at: string;
  /** Current status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** The cost of the send, in credits. */
  cost: number;
  /** Credits left to spend after this. */
  balance: number;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
  /** Present if the whole installation uses the simulated carrier (`CARRIER=simulator`), so that no message reaches a phone. */
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

/** When failures hold the send. */
export interface StopIf {
  /** The send is held when more than this share of the messages with a result from a carrier has failed. */
  failed_share: number;
  /** The rule applies once this many messages have a result from a carrier. */
  min_messages?: number;
}

/** One message to several phones. */
export interface BulkSend {
  /** Hold the send when too many of its messages fail, which means that a carrier refuses them or reports them undelivered. POST /sends/{send_id}/resume continues it. */
  stop_if?: StopIf;
  /** Send this many messages first, or this share of them, and hold the rest. The send continues automatically when enough of them are delivered, 90 % or as many as `stop_if` requires, or on POST /sends/{send_id}/resume. */
  canary?: number | string;
  /** A sender ID registered by the account. */
  sender_id: string;
  /** The text: 1 to 1,600 characters, not blank. `{{name}}` and `{{name|default}}` are placeholders. */
  message: string;
  /** When to send, at most 90 days ahead; defaults to now. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; defaults to 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The send's purpose, which decides its priority. Use `marketing` for campaigns: an account's sends of one category go in order, so a `transactional` campaign delays your other transactional messages. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that keeps its meaning, or `reject` the request. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone number as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second; without it, as fast as the route allows. A single second may have up to 30 % more if the previous ones had less. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote for the same body. The send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send and in its events. */
  metadata?: Record<string, unknown>;
  /** 1 to 100,000 recipients: phone numbers, with digits only and starting with the country code, or objects with `phone`, `variables`, which are the values of the message's placeholders, and your own `reference`, which is returned wherever the message appears. */
  phones: Array<string | {
    phone: string;
    variables?: Record<string, string>;
    reference?: string;
  }>;
}

/** Numbers of recipients, by outcome. */
export interface Counts {
  /** Recipients in the request, or contacts in the group, whether accepted or not. */
  submitted: number;
  /** Recipients that a message will be sent to. */
  accepted: number;
  /** Recipients dropped because they were listed before. */
  duplicate: number;
  /** Invalid phone numbers, or recipients without a value that the message needs; see `rejected`. */
  invalid: number;
  /** Recipients that opted out, are in a destination not allowed, or are over their limit. */
  suppressed: number;
}

/** Segments of one message, and of all messages. */
export interface BulkSegments {
  /** Segments of each message; null if messages differ. */
  per_message: number | null;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
  encoding: "gsm7" | "ucs2";
  /** Segments of all messages; an upper bound for a group with placeholders until it is expanded. */
  total: number;
}

/** Messages to a country, and what they cost. */
export interface CountryCost {
  /** ISO 3166-1 code; null for none, such as satellite phones. */
  country: string | null;
  /** Number of messages. */
  messages: number;
  /** Credits. */
  cost: number;
}

/** A recipient's message. */
export interface Accepted {
  /** The message. */
  message_id: string;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** The recipient's own reference; absent without one, null if it was erased. */
  reference?: string | null;
}

/** An accepted bulk or group send. */
export interface Bulk {
  /** Numbers of accepted and rejected recipients. */
  counts: Counts;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** What the messages cost by country, the dearest first; those to a group at most. Only if prices differ. */
  countries?: Array<CountryCost>;
  /** The recipients that were not accepted, at most 1,000. */
  rejected: Array<Rejected>;
  /** Whether more were rejected than `rejected` lists. */
  rejected_truncated?: boolean;
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
  /** The send. */
  send_id: string;
  /** The sender ID. */
  sender_id: string;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** When it was accepted. */
  created_at: string;
  /** Current status. */
  status: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled";
  /** The cost of the send, in credits. */
  cost: number;
  /** Credits left to spend after this. */
  balance: number;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
  /** Present if the whole installation uses the simulated carrier (`CARRIER=simulator`), so that no message reaches a phone. */
  simulated?: boolean;
  /** Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7. */
  encoding?: Encoding;
  /** The group of a group send; null for other sends. */
  group_id: string | null;
  /** The accepted recipients in order, at most 1,000; none for a group send. */
  messages: Array<Accepted>;
  /** Whether there are more messages than listed here; see `messages_url`. */
  messages_truncated?: boolean;
  /** URL that lists all messages of the send. */
  messages_url: string;
}

/** One message to every contact of a group. */
export interface GroupSend {
  /** Hold the send when too many of its messages fail, which means that a carrier refuses them or reports them undelivered. POST /sends/{send_id}/resume continues it. */
  stop_if?: StopIf;
  /** Send this many messages first, or this share of them, and hold the rest. The send continues automatically when enough of them are delivered, 90 % or as many as `stop_if` requires, or on POST /sends/{send_id}/resume. */
  canary?: number | string;
  /** A sender ID registered by the account. */
  sender_id: string;
  /** The text: 1 to 1,600 characters, not blank. `{{name}}` and `{{name|default}}` are placeholders. */
  message: string;
  /** When to send, at most 90 days ahead; defaults to now. A time up to 60 seconds ago means now. */
  send_at?: string;
  /** When unsent messages expire; defaults to 72 hours after the send is due. */
  expires_at?: string;
  /** Your own reference, returned wherever the send appears. */
  reference?: string;
  /** The send's purpose, which decides its priority. Use `marketing` for campaigns: an account's sends of one category go in order, so a `transactional` campaign delays your other transactional messages. */
  category?: "authentication" | "transactional" | "marketing";
  /** What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that keeps its meaning, or `reject` the request. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
  /** Refuse the request unless every recipient can be accepted. */
  strict?: boolean;
  /** Send to a phone number as often as it is listed, instead of once. */
  allow_duplicates?: boolean;
  /** Maximum segments per second; without it, as fast as the route allows. A single second may have up to 30 % more if the previous ones had less. */
  rate?: number;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url?: string;
  /** Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix. Defaults to the account's quiet hours for the category. Not allowed for `authentication`. */
  quiet_hours?: QuietHours;
  /** A quote from POST /sms/quote for the same body. The send costs no more than quoted, or is refused. */
  quote_id?: string;
  /** Your own data, up to 2 kB, returned with the send and in its events. */
  metadata?: Record<string, unknown>;
  /** A group of the account. */
  group_id: string;
}

/** When failures hold the send. */
export interface StopRule {
  /** The send is held when more than this share of the messages with a result from a carrier has failed. */
  failed_share: number;
  /** The rule applies once this many messages have a result from a carrier. */
  min_messages: number;
}

/** Hours in which messages wait, in the recipient's local time. */
export interface QuietHoursRule {
  /** When they begin, in the recipient's local time. */
  from: string;
  /** When they end; earlier than `from` means on the next day. */
  until: string;
}

/** Maximum number of messages of the send's category to one phone number in a period. */
export interface Cap {
  /** Maximum messages to a phone number in the period. Further ones are `rejected` and not charged. */
  messages: number;
  /** Length of the period, in hours. */
  hours: number;
}

/** The cost of a send and the recipients it would reject. */
export interface Quote {
  /** Numbers of accepted and rejected recipients. */
  counts: Counts;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** What the messages cost by country, the dearest first; those to a group at most. Only if prices differ. */
  countries?: Array<CountryCost>;
  /** The recipients that were not accepted, at most 1,000. */
  rejected: Array<Rejected>;
  /** Whether more were rejected than `rejected` lists. */
  rejected_truncated?: boolean;
  /** The text of each segment; empty if messages differ. */
  parts: Array<string>;
  /** The cost of the send, in credits. */
  cost: number;
  /** The quote. Pass it to the send as `quote_id`. */
  quote_id: string;
  /** When the quote expires: after 15 minutes. */
  quote_expires_at: string;
  /** Credits available now, before this send. */
  balance: number;
  /** Whether the balance covers the cost. */
  sufficient: boolean;
  /** When failures would hold it; null means never. */
  stop_if: StopRule | null;
  /** How many messages would be sent first; null without a canary. */
  canary: number | null;
  /** Hours in which messages would wait, in the recipient's local time: those of the send or, without any, the account's for the category. Null if there are none. */
  quiet_hours: QuietHoursRule | null;
  /** The account's cap on messages of this category to one phone number; null means unlimited. */
  cap: Cap | null;
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
  /** What the key may be used for. */
  scopes: Array<string>;
  /** The networks that the key may be used from; null means any. */
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
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A new key. Omitted properties, except scopes, are copied from the key in use. */
export interface MakeApiKey {
  /** Your own name for the key. */
  name?: string;
  /** Create a test key, for the sandbox. Defaults to the kind of the key in use. */
  test?: boolean;
  /** What the key may be used for, any of sms:send, sms:read, balance:read, groups:read, groups:write, keys:read, keys:write, senders:read, senders:write, suppressions:read, suppressions:write, webhooks:read, webhooks:write, privacy:write, people:read, people:write. Defaults to `sms:send` and the `:read` scopes, as far as the key in use has them. */
  scopes?: Array<"sms:send" | "sms:read" | "balance:read" | "groups:read" | "groups:write" | "keys:read" | "keys:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "privacy:write" | "people:read" | "people:write">;
  /** The networks or addresses that the key may be used from. */
  allowed_ips?: Array<string>;
  /** Maximum requests per second. */
  requests_per_second?: number;
  /** When the key expires. */
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
  /** What the key may be used for. */
  scopes: Array<string>;
  /** The networks that the key may be used from; null means any. */
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

/** An API key and its secret. The headers X-API-Key and X-API-Secret can be used instead. */
export interface Credentials {
  /** The API key. */
  api_key: string;
  /** The API key's secret. */
  api_secret: string;
}

/** A bearer token. */
export interface Token {
  /** The token. Send it as `Authorization: Bearer …`. */
  access_token: string;
  /** Always `Bearer`. */
  token_type: "Bearer";
  /** Seconds until the token expires. */
  expires_in: number;
  /** When the token expires. */
  expires_at: string;
  /** The token's scopes, separated by spaces. */
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

/** The account's credits. */
export interface Balance {
  /** Credits left to spend: `available` and `credit_limit` together. A send that costs more is refused with 402. */
  balance: number;
  /** The account's own credits that are left; below 0 if it owes some. */
  available: number;
  /** Credits that the account may owe. */
  credit_limit: number;
  /** Credits reserved for unfinished messages. */
  reserved: number;
  /** What a credit is worth. `sms`: the price of a segment, where no price list says otherwise. A currency and decimals, such as `EUR:4`: 0.0001 EUR. */
  unit: string;
  /** `available` in that currency; null without one. */
  available_amount: string | null;
  /** Below this the balance counts as low. */
  low_balance_threshold: number;
  /** Credits charged in a month (UTC) at which there is a `spend.threshold` event; null means none. */
  spend_threshold: number | null;
  /** When it last changed. */
  updated_at: string;
}

/** An entry of the ledger. */
export interface Transaction {
  /** The entry's id, which increases with every entry. */
  id: number;
  /** The kind of entry. */
  kind: "topup" | "reserve" | "capture" | "release" | "refund" | "reversal" | "adjustment";
  /** The amount, in credits. */
  amount: number;
  /** The ledger account that the credits came from. */
  debit: string;
  /** The ledger account that the credits went to. */
  credit: string;
  /** The send. */
  send_id: string | null;
  /** The batch: a part of the send's recipients. */
  batch_id: string | null;
  /** The message. */
  message_id: string | null;
  /** The reason for a top-up, a reversal, an adjustment or a refund. */
  reason: string | null;
  /** When it was posted. */
  created_at: string;
}

export interface TransactionPage {
  /** The entries. */
  data: Array<Transaction>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A change of rights, money or settings of the account. */
export interface Change {
  /** The change; ids rise. */
  change_id: number;
  /** The type of the object and of the change, with a dot. */
  action: string;
  /** Who did it: `person` or `key` with its id, `operator` or `worker`. */
  actor: string;
  /** The name of a person of the account; null otherwise. */
  actor_name: string | null;
  /** The id of the object. */
  subject: string | null;
  /** The values before. */
  before: unknown;
  /** The values after. */
  after: unknown;
  /** Why, if a reason was given. */
  reason: string | null;
  /** The address of the request; null for operators. */
  address: string | null;
  /** The request; null for operators. */
  request_id: string | null;
  /** When it was done. */
  created_at: string;
}

export interface ChangePage {
  /** The entries. */
  data: Array<Change>;
  /** The `cursor` of the next page; null on the last page. */
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
  /** The `cursor` of the next page; null on the last page. */
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
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Contacts to add to a group: phone numbers, or objects with `phone`, `fields` and `tags`. */
export interface ContactsBody {
  /** 1 to 100,000 contacts: phone numbers, or objects with `phone` and optionally `fields` (up to 30 texts by name, for placeholders) and `tags` (up to 20). */
  contacts: Array<string | {
    phone: string;
    fields?: Record<string, string>;
    tags?: Array<string>;
  }>;
}

/** Numbers of entries, by outcome. */
export interface ContactCounts {
  /** Entries in the request. */
  submitted: number;
  /** Contacts added to the group. */
  added: number;
  /** Contacts whose fields or tags changed. */
  changed: number;
  /** Contacts that were already in the group and did not change. */
  unchanged: number;
  /** Entries whose phone number was listed before. */
  duplicate: number;
  /** Invalid entries; see `rejected`. */
  invalid: number;
}

/** A rejected entry. */
export interface RejectedContact {
  /** The entry's index in `contacts`, from 0. */
  index: number;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why it was rejected. */
  code: "invalid_phone" | "duplicate" | "unknown_field" | "wrong_type" | "invalid" | "too_long";
  /** Human-readable reason. */
  detail: string;
  /** The index of the phone number's first occurrence. */
  duplicate_of?: number;
}

/** The valid contacts are now in the group. */
export interface PutContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** Numbers of added and rejected entries. */
  counts: ContactCounts;
  /** The rejected entries, at most 1,000. */
  rejected: Array<RejectedContact>;
  /** Whether more were rejected than `rejected` lists. */
  rejected_truncated?: boolean;
}

/** Phone numbers to remove from a group. */
export interface PhonesBody {
  /** 1 to 100,000 phone numbers, in international form or as written in the account's country. */
  phones: Array<string>;
}

/** The phone numbers were removed from the group. */
export interface RemovedContacts {
  /** The group. */
  group_id: string;
  /** Contacts in the group. */
  contact_count: number;
  /** Contacts removed from the group. */
  removed: number;
  /** Phone numbers that were not in the group. */
  absent: number;
}

/** A webhook, without its secret. */
export interface Webhook {
  /** The webhook. */
  webhook_id: string;
  /** Where events are posted; null means to each send's `callback_url`. */
  url: string | null;
  /** The event types that are posted; null means all. */
  events: Array<string> | null;
  /** Your own description. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why the webhook is disabled; null while it is active. */
  disabled_reason: string | null;
  /** Since when every post has failed; null if the last one succeeded or nothing is left to retry. */
  failing_since: string | null;
  /** Increases by one with each rotation of the secret. */
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
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A new webhook. Without `url`, it posts the events of each send to the send's `callback_url`. */
export interface WebhookBody {
  /** Where events are posted; null means to each send's `callback_url`. */
  url?: string | null;
  /** The event types that are posted; null means all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "spend.threshold" | "statement.closed" | "price.changed" | "verification.approved" | "webhook.disabled"> | null;
  /** Your own description. */
  description?: string | null;
}

/** A webhook with its new secret, which is shown only once. */
export interface Secret {
  /** The webhook. */
  webhook_id: string;
  /** Where events are posted; null means to each send's `callback_url`. */
  url: string | null;
  /** The event types that are posted; null means all. */
  events: Array<string> | null;
  /** Your own description. */
  description: string | null;
  /** Whether events are posted to it. */
  status: "active" | "disabled";
  /** Why the webhook is disabled; null while it is active. */
  disabled_reason: string | null;
  /** Since when every post has failed; null if the last one succeeded or nothing is left to retry. */
  failing_since: string | null;
  /** Increases by one with each rotation of the secret. */
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
  /** Where events are posted. A webhook without a `url` cannot be given one. */
  url?: string;
  /** The event types that are posted; null means all. */
  events?: Array<"message.sent" | "message.delivered" | "message.undelivered" | "message.failed" | "message.rejected" | "message.expired" | "message.canceled" | "message.in_doubt" | "message.received" | "send.completed" | "send.canceled" | "send.held" | "suppression.created" | "sender_id.approved" | "sender_id.rejected" | "sender_id.suspended" | "balance.low" | "spend.threshold" | "statement.closed" | "price.changed" | "verification.approved" | "webhook.disabled"> | null;
  /** Your own description. */
  description?: string | null;
  /** With `active`, events are posted from now on; POST …/recover posts missed ones. */
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
  /** The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream. */
  event_id: string;
  /** Always `webhook.test`. */
  type: string;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  /** The webhook. */
  webhook_id: string;
  /** The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream. */
  event_id: string;
  /** What happened. */
  type: string;
  /** Current status; `failed` after the last attempt. */
  status: "pending" | "delivered" | "failed";
  /** Number of attempts. */
  attempts: number;
  /** When the next attempt is due; null if none is. */
  next_attempt_at: string | null;
  /** Where it was posted. */
  url: string;
  /** The last attempt's HTTP status; null if there was no response. */
  http_status: number | null;
  /** Why the last attempt failed; null if it did not. */
  error: string | null;
  /** Duration of the last attempt, in milliseconds. */
  milliseconds: number | null;
  /** When it was first attempted. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
}

export interface DeliveryPage {
  /** The entries. */
  data: Array<Delivery>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** The time from which to deliver again. */
export interface RecoverBody {
  /** The start time, at most 8 days ago. */
  since: string;
}

/** Undelivered events since `since` will be posted again. */
export interface Recover {
  /** The webhook. */
  webhook_id: string;
  /** Events from this time on. */
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
  /** Human-readable explanation; null for request errors. */
  meaning: string | null;
  /** What to do about it. */
  remediation: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** For `validation_failed`: the codes of single fields. */
  field_codes?: Array<FieldCode>;
}

export interface ErrorEntryPage {
  /** The entries. */
  data: Array<ErrorEntry>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** An event. `type`, `timestamp` and `data` are the same as in a post to a webhook. */
export interface StreamEvent {
  /** The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream. */
  event_id: string;
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about; its members depend on `type`. */
  data: Record<string, unknown>;
}

export interface StreamEventPage {
  /** The entries. */
  data: Array<StreamEvent>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** What to export: all messages, or those that match. */
export interface ExportRequest {
  /** Only messages to this phone number. */
  phone?: string;
  /** Only messages with this error. */
  error?: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "recipient_opted_out" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_response" | "worker_stopped" | "not_sent";
  /** Only messages with a permanent error, or with false a temporary one. */
  permanent?: boolean;
  /** Only messages submitted to this carrier. */
  carrier?: string;
  /** Only messages to this country: two letters of ISO 3166-1. */
  country?: string;
  /** Only messages of recipients or sends with this reference; those of recipients come first. */
  reference?: string;
  /** Only messages of this category. */
  category?: "authentication" | "transactional" | "marketing";
  /** Only messages of sends to this group. */
  group_id?: string;
  /** Only messages accepted at this time or later. */
  since?: string;
  /** Only messages accepted before this time. */
  until?: string;
  /** CSV, or a line of JSON for each message. */
  format?: "csv" | "ndjson";
  /** Only messages with this status. */
  status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered";
}

/** An export of messages. It is deleted a week after it was requested. */
export interface Export {
  /** The export. */
  export_id: string;
  /** `failed`: the operator has to retry it. */
  status: "running" | "completed" | "failed";
  /** The format of the file. */
  format: "csv" | "ndjson";
  /** Messages found so far. */
  rows: number;
  /** When the last message found so far was accepted; newer ones come first. */
  reached_at: string | null;
  /** URL of the file. */
  file_url: string;
  /** When it was requested. */
  created_at: string;
  /** When it was complete; null while it is running. */
  finished_at: string | null;
}

export interface ExportList {
  /** The entries. */
  data: Array<Export>;
}

/** The export is deleted, with its file. */
export interface DeletedExport {
  /** The export. */
  export_id: string;
  /** The export is deleted. */
  deleted: boolean;
}

/** Numbers of rows read so far, by outcome. */
export interface ImportCounts {
  /** Rows read, without the header. */
  rows: number;
  /** Contacts added to the group. */
  added: number;
  /** Contacts whose fields or tags changed. */
  changed: number;
  /** Rows of contacts that were in the group, also by an earlier row, and did not change. */
  unchanged: number;
  /** Rows that are not valid contacts. */
  invalid: number;
}

/** What was done to rows so that they could be imported. */
export interface ImportNote {
  /** `several_phones`: of several phone numbers in a cell, the first is taken; `other_column`: the number is from another column; `value_cut`: a field is cut to 255 characters; `tag_cut`: a tag is cut to 50; `tags_left`: tags are left out, being over 20 or not printable; `no_consent`: the person has not agreed to marketing, says a column such as `Accepts SMS Marketing`. */
  code: "several_phones" | "other_column" | "value_cut" | "tag_cut" | "tags_left" | "no_consent";
  /** How often. */
  rows: number;
  /** The first such row's line in the file, from 1. */
  line: number;
}

/** The phone numbers of a country. */
export interface ImportCountry {
  /** The country of the phone numbers, as in ISO 3166-1; null for those of no country. */
  country: string | null;
  /** Imported rows. */
  rows: number;
}

/** An import of a CSV file of contacts into a group. */
export interface Import {
  /** The import. */
  import_id: string;
  /** The group. */
  group_id: string;
  /** Current status. */
  status: "queued" | "running" | "completed" | "failed" | "canceled";
  /** The country whose national number format the file uses; null means international numbers only. */
  country: string | null;
  /** The file's size in bytes of UTF-8. */
  bytes: number;
  /** Bytes read so far. */
  bytes_done: number;
  /** Numbers of rows read so far, by outcome. */
  counts: ImportCounts;
  /** The column of the phone numbers: its name, or without a header its number. */
  phone_column: string | null;
  /** The columns that are not read, at most 100. */
  fields_left: Array<string>;
  /** What was cut, left or chosen so far. */
  notes: Array<ImportNote>;
  /** The countries of the phone numbers imported so far, the most frequent first. */
  countries: Array<ImportCountry>;
  /** Why the import failed; null if it did not. */
  error: string | null;
  /** URL that lists the rows that are not valid contacts. */
  errors_url: string;
  /** When the upload was complete. */
  created_at: string;
  /** When it ended; null if it has not. */
  finished_at: string | null;
}

export interface ImportPage {
  /** The entries. */
  data: Array<Import>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A row that is not a valid contact. */
export interface ImportError {
  /** The row's first line in the file, from 1. */
  line: number;
  /** The row's phone number as given, cut to 40 characters. */
  value: string;
  /** Why it is not a valid contact. `suppressed`: the file says that the person has opted out. */
  code: "invalid_phone" | "invalid" | "suppressed";
  /** Human-readable reason. */
  detail: string;
}

export interface ImportErrorPage {
  /** The entries. */
  data: Array<ImportError>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** An inbound message. */
export interface Inbound {
  /** The inbound message. */
  inbound_id: string;
  /** The phone number that sent it. */
  phone: string;
  /** Your number that received it. */
  sender_id: string;
  /** The text. */
  message: string;
  /** What the text asks for: `stop` opts the phone number out, `start` opts it in again. `possible_stop` may be an opt-out: the phone number gets no marketing until somebody has decided. Null for any other text. */
  keyword: "stop" | "start" | "possible_stop" | null;
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
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** The token of an invitation. */
export interface InvitationToken {
  /** The token at the end of the invitation's link. */
  token: string;
}

/** What an invitation offers. */
export interface InvitationPreview {
  /** The e-mail address of the person. */
  email: string;
  /** The account; null if it is for operators only. */
  account_name: string | null;
  /** Their role in the account; null without one. */
  role: "owner" | "sender" | "viewer" | null;
  /** Their role in the installation; null for customers. */
  operator_role: "admin" | "support" | null;
  /** When the invitation expires. */
  expires_at: string;
}

/** The token of an invitation, and the password of the person. */
export interface Acceptance {
  /** The token at the end of the invitation's link. */
  token: string;
  /** The name of a new person; of others it is ignored. */
  name?: string;
  /** Their password; a new person chooses one of 12 to 200 characters. */
  password: string;
  /** A code, of an existing person who uses TOTP. */
  code?: string;
}

/** A person who signs in. */
export interface Person {
  /** The person. */
  person_id: string;
  /** Their e-mail address. */
  email: string;
  /** Their name. */
  name: string;
  /** Their language, as a language tag (BCP 47). */
  locale: string;
  /** Their time zone, by its IANA name. */
  time_zone: string;
  /** Their role in the installation; null for customers. */
  operator_role: "admin" | "support" | null;
  /** Whether a sign-in needs a code. */
  totp: boolean;
  /** Whether they have a password; without one they sign in by link or through the provider only. */
  has_password: boolean;
}

/** An account that the person is in. */
export interface PersonAccount {
  /** The account, for POST /api/v1/me/token. */
  account_id: number;
  /** The account's name. */
  name: string;
  /** Their role in it. */
  role: "owner" | "sender" | "viewer";
  /** Only an `active` account can be used. The operator has suspended a `suspended` one. A `frozen` one was stopped because its credits did not add up: nothing of it is sent until the operator activates it. */
  status: "active" | "suspended" | "frozen" | "closed";
  /** The country by which phone numbers in its lists are read (ISO 3166-1); null: none is set. */
  country: string | null;
}

/** A new session. */
export interface SignedIn {
  /** The person. */
  person: Person;
  /** The accounts, by name. */
  accounts: Array<PersonAccount>;
  /** The session. */
  session_id: string;
  /** When the session ends, or 12 hours after its last use. */
  expires_at: string;
  /** The session's token, shown only once. Send it as `Authorization: Bearer …` to /api/v1/me. */
  session_token: string;
}

/** An invitation to the account. */
export interface Invitation {
  /** The invitation. */
  invitation_id: string;
  /** The e-mail address of the person. */
  email: string;
  /** Their role in the account. */
  role: "owner" | "sender" | "viewer";
  /** When they were invited. */
  created_at: string;
  /** When the invitation expires. */
  expires_at: string;
}

export interface InvitationPage {
  /** The entries. */
  data: Array<Invitation>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Whom to invite to the account, in which role. */
export interface Invite {
  /** The e-mail address of the person. */
  email: string;
  /** Their role in the account. */
  role: "owner" | "sender" | "viewer";
}

/** A new invitation with its token, which is shown only once: a replayed response does not contain it. */
export interface NewInvitation {
  /** The invitation. */
  invitation_id: string;
  /** The e-mail address of the person. */
  email: string;
  /** Their role in the account. */
  role: "owner" | "sender" | "viewer";
  /** When they were invited. */
  created_at: string;
  /** When the invitation expires. */
  expires_at: string;
  /** The token: the person accepts it with POST /api/v1/invitations/accept. Absent if `Idempotency-Replayed` is true. */
  token?: string;
}

/** The invitation is revoked. */
export interface RevokedInvitation {
  /** The invitation. */
  invitation_id: string;
  /** The invitation cannot be accepted any more. */
  revoked: boolean;
}

/** The account's spend limits, and the credits that count toward them. */
export interface Spending {
  /** Credits that the account's sends may reserve in a day; null means unlimited. */
  day: number | null;
  /** Credits that the account's sends may reserve in a month; null means unlimited. */
  month: number | null;
  /** Credits reserved today; counted only if there is a spend limit. */
  spent_of_day: number;
  /** Credits reserved this month; counted only if there is a spend limit. */
  spent_of_month: number;
}

/** Maximum number of messages to one phone number per hour, by category. */
export interface RecipientLimits {
  /** Limit for `authentication`; null means unlimited. */
  authentication: number | null;
  /** Limit for `transactional`; null means unlimited. */
  transactional: number | null;
  /** Limit for `marketing`; null means unlimited. */
  marketing: number | null;
}

/** The limits of the service and the account, and the account's backlog. */
export interface Limits {
  /** Maximum API keys that are not revoked; one more gets `state_conflict`. */
  api_keys: number;
  /** Maximum API keys that can be created in 24 hours; one more gets `rate_limited`. */
  api_keys_per_day: number;
  /** Maximum SMPP credentials that are not revoked; one more gets `state_conflict`. */
  smpp_credentials: number;
  /** Maximum tokens of an API key that can be revoked per day; one more gets `rate_limited`. */
  revoked_tokens_per_key: number;
  /** Maximum tokens of all API keys that can be revoked per day, likewise. */
  revoked_tokens: number;
  /** Maximum sender IDs; one more gets `sender_limit`. */
  sender_ids: number;
  /** Maximum of these that wait for approval; one more gets `sender_limit`. */
  pending_sender_ids: number;
  /** Maximum invitations of people that are open; one more gets `state_conflict`. */
  open_invitations: number;
  /** Maximum webhooks; one more gets `webhook_limit`. */
  webhooks: number;
  /** Maximum groups of an account; one more gets `group_limit`. */
  groups: number;
  /** Maximum contacts of a group; one more gets `group_full`. */
  contacts_per_group: number;
  /** Maximum fields of a contact. */
  contact_fields: number;
  /** Maximum length of the value of a contact's field. */
  contact_field_characters: number;
  /** Maximum tags of a contact. */
  contact_tags: number;
  /** Maximum length of a tag. */
  contact_tag_characters: number;
  /** Maximum imports of contacts that wait or are running; one more gets `import_limit`. */
  open_imports: number;
  /** Maximum size of their files together, in bytes, likewise. */
  open_import_bytes: number;
  /** Maximum entries of the opt-out list; one more gets `suppression_limit`. A STOP is always stored. */
  suppressions: number;
  /** Maximum erasures that are not complete; one more gets `erasure_limit`. */
  open_erasures: number;
  /** Maximum length of a message, in Unicode code points. */
  message_characters: number;
  /** Maximum recipients of a bulk send. */
  phones_per_request: number;
  /** Maximum contacts or opt-outs in a request. */
  entries_per_request: number;
  /** Maximum entries that `rejected` of a response lists; further ones are only counted. */
  rejected_entries: number;
  /** Maximum size of a body, in bytes. */
  body_bytes: number;
  /** Maximum size of a body of /sms/send-bulk, /sms/quote, and lists of contacts or opt-outs, in bytes. */
  bulk_body_bytes: number;
  /** Maximum size of a file of contacts, in bytes. */
  import_bytes: number;
  /** How far ahead a send can be scheduled, in days. */
  schedule_days_ahead: number;
  /** Maximum size of `metadata`, in bytes. */
  metadata_bytes: number;
  /** How long a token is valid, in seconds. */
  token_seconds: number;
  /** Maximum entries per page. */
  page_items: number;
  /** Maximum rows examined for a page of a filtered list; such a page may be shorter than `limit`. */
  page_rows_examined: number;
  /** Timeout, in seconds, of each query of a list or report; the response is then 503. */
  page_seconds: number;
  /** How long an `Idempotency-Key` is kept, in days. */
  idempotency_days: number;
  /** Maximum number of headers. Trailers, which are headers after the body, are refused. */
  headers: number;
  /** Maximum size of a URL, and of a single header, in bytes. */
  header_bytes: number;
  /** Maximum size of the URL and all headers together, in bytes. */
  head_bytes: number;
  /** Maximum keys of a JSON object. */
  json_keys: number;
  /** Maximum values in a JSON body above `body_bytes`, nested ones included. */
  json_values: number;
  /** Maximum values in a JSON body of up to `body_bytes`. */
  small_body_json_values: number;
  /** Maximum nesting depth of a JSON body. */
  json_depth: number;
  /** Maximum concurrent requests of the account per API process; further ones get `rate_limited`. Before authentication, a lower limit per client address applies. */
  requests_under_way: number;
  /** Maximum of these with a body above `body_bytes`; further ones wait. */
  large_bodies_under_way: number;
  /** Maximum of these whose body is being parsed and worked on, other than files of contacts; further ones wait. */
  large_bodies_worked_on: number;
  /** Maximum concurrent CSV exports per API process; further ones get `rate_limited`. */
  exports_under_way: number;
  /** Bytes of responses per API process that the account's clients have not read yet; above that, requests get `rate_limited`. */
  unread_bytes: number;
  /** Minimum rate at which a large body must arrive, after its first 20 seconds. */
  body_bytes_per_second: number;
  /** Maximum requests of a client address at the same time, enforced by the proxy in front of the API; further ones get `rate_limited`. */
  connections_per_address: number;
  /** Maximum requests per second of the account. */
  requests_per_second: number;
  /** Number of the account's messages that wait to be sent. */
  backlog_messages: number;
  /** What limits the largest waiting send, as in its `limited_by`; null if nothing waits. */
  backlog_limited_by: string | null;
  /** Estimated time at which the last queued message is submitted; null if unknown. */
  backlog_eta: string | null;
  /** The account's spend limits per day and per month, in UTC. */
  spending: Spending;
  /** Prefixes of the phone numbers that the account may send to; null means any. */
  destinations: Array<string> | null;
  /** What happens to one-time passwords sent to unusually many phone numbers of one number range: nothing (`off`), they are reported to the operator (`watch`), or they are refused (`block`). */
  pumping_guard: "off" | "watch" | "block";
  /** Maximum number of messages from the account to one phone number per hour, by category. */
  messages_per_phone_hour: RecipientLimits;
}

/** A new password. */
export interface ChangePassword {
  /** The current password. Not needed within 15 minutes of signing in by a link, or if there is none. */
  password?: string;
  /** The new password, of 12 to 200 characters. */
  new_password: string;
}

/** The password is changed. */
export interface PasswordChanged {
  /** The password is changed; other sessions ended. */
  changed: boolean;
}

/** The password of the person. */
export interface OwnPassword {
  /** Their password. */
  password: string;
}

/** A secret for an authenticator app, to be confirmed by a code. */
export interface Totp {
  /** The secret, in base32. */
  secret: string;
  /** The same for a QR code. */
  uri: string;
}

/** A code of the authenticator app. */
export interface ConfirmTotp {
  /** The code that the app shows now. */
  code: string;
}

/** TOTP is on. */
export interface RecoveryCodes {
  /** Codes for when the app is lost, shown only once. Each works once. */
  recovery_codes: Array<string>;
}

/** TOTP is off. */
export interface TotpDisabled {
  /** Whether a sign-in needs a code. */
  totp: boolean;
}

/** The person who is signed in, their accounts and their session. */
export interface Me {
  /** The person. */
  person: Person;
  /** The accounts, by name. */
  accounts: Array<PersonAccount>;
  /** The session. */
  session_id: string;
  /** When the session ends, or 12 hours after its last use. */
  expires_at: string;
}

/** What the person changes about themselves. */
export interface ChangeMe {
  /** Their name. */
  name?: string;
  /** Their language, as a language tag (BCP 47). */
  locale?: string;
  /** Their time zone, by its IANA name. */
  time_zone?: string;
}

/** A session of the person. */
export interface Session {
  /** The session. */
  session_id: string;
  /** When they signed in. */
  created_at: string;
  /** When it was last used, to the minute. */
  last_used_at: string;
  /** The address that they signed in from. */
  address: string;
  /** The client that they signed in with. */
  user_agent: string;
  /** Whether it is the session in use. */
  current: boolean;
}

export interface SessionPage {
  /** The entries. */
  data: Array<Session>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** The session has ended. */
export interface SessionEnded {
  /** The session. */
  session_id: string;
  /** The session and its tokens are revoked. */
  ended: boolean;
}

/** The account that a token is for. */
export interface TokenRequest {
  /** The account. */
  account_id: number;
  /** A token for the account's sandbox, as with a test key. */
  test?: boolean;
}

/** A bearer token of the person for an account. */
export interface AccountToken {
  /** The token. Send it as `Authorization: Bearer …`. */
  access_token: string;
  /** Always `Bearer`. */
  token_type: "Bearer";
  /** Seconds until the token expires. */
  expires_in: number;
  /** When the token expires. */
  expires_at: string;
  /** The token's scopes, separated by spaces. */
  scope: string;
  /** Their role in the account. */
  role: "owner" | "sender" | "viewer";
  /** The account. */
  account_id: number;
  /** Whether the token is for the account's sandbox. */
  test: boolean;
}

/** Why an operator needs to see texts and phone numbers. */
export interface OperatorTokenRequest {
  /** Why texts and full phone numbers have to be seen; kept in the audit log. */
  reason?: string;
}

/** A bearer token of the person. */
export interface PersonToken {
  /** The token. Send it as `Authorization: Bearer …`. */
  access_token: string;
  /** Always `Bearer`. */
  token_type: "Bearer";
  /** Seconds until the token expires. */
  expires_in: number;
  /** When the token expires. */
  expires_at: string;
  /** The token's scopes, separated by spaces. */
  scope: string;
}

/** A send, with its status and counts. */
export interface Send {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
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
  /** The group of a group send; null for other sends. */
  group_id: string | null;
  /** Recipients by outcome of acceptance, and accepted ones by message status. */
  counts: Record<string, number>;
  /** Number of segments, and their encoding. */
  segments: BulkSegments;
  /** Credits reserved when the send was accepted. */
  cost: number;
  /** Credits charged for messages that a carrier accepted: `sent`, `delivered` and `undelivered`. Credits for the others stay reserved while they wait, are being sent or are in doubt, and are then released. */
  charged: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** Your own data, as you sent it. */
  metadata: Record<string, unknown> | null;
  /** URL that receives this send's events, in addition to your webhooks. */
  callback_url: string | null;
  /** Maximum segments per second; null means as fast as the route allows. */
  rate: number | null;
  /** When failures hold the send; null if they do not, or no longer do. */
  stop_if: StopRule | null;
  /** Hours in which messages wait, in the recipient's local time; null if there are none. */
  quiet_hours: QuietHoursRule | null;
  /** The account's cap on messages of this category to one phone number; null means unlimited. */
  cap: Cap | null;
  /** How many messages are sent first; null if there is no canary, or it has ended. */
  canary: number | null;
  /** Estimated time at which the last message is submitted; null if unknown. */
  eta: string | null;
  /** What currently limits the send. `send_at`: it is scheduled for later; `paused`: you have paused it; `held`: it is held, and `held_by` says by what; `carrier_paused`: the operator has paused the carrier; `carrier_down`: the carrier is unavailable; `no_worker`: no worker is running; `send_rate`: its own rate; `sender_rate`: the rate limit of its sender ID; `prefix_rate`: the rate limit of the numbers that it goes to; `canary`: the outcome of its canary; `quiet_hours`: quiet hours of its recipients; `retry`: it is about to be tried again; `throttled`: the carrier has asked for a lower rate; `carrier_rate`: the carrier's rate, as is usual for a large send; `queue_turn`: other sends go first; `window`: the carrier has yet to respond to earlier messages. Null if nothing waits. */
  limited_by: string | null;
  /** Submits repeated because an earlier one had no response; above 0 only if the operator enables this. */
  resent: number;
  /** What holds the send: the `operator`; `crashes` of workers that processed it, which the operator examines; a suspended `sender_id`; `canary`; or `stop_if`. After the last two, POST …/resume continues it. */
  held_by: "operator" | "crashes" | "sender_id" | "canary" | "stop_if" | null;
  /** Why the send is held; null if it is not. */
  held_reason: string | null;
  /** When it is due; null means at once. */
  send_at: string | null;
  /** When unsent messages expire. */
  expires_at: string;
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
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Changes to a send. */
export interface SendChanges {
  /** When the send is due, at most 90 days ahead. Null, or a time up to 60 seconds ago, means now. A default `expires_at` moves with it. */
  send_at?: string | null;
  /** When unsent messages expire. */
  expires_at?: string;
  /** Maximum segments per second; null means as fast as the route allows. */
  rate?: number | null;
  /** The text; `{{name}}` and `{{name|default}}` are placeholders. */
  message?: string;
  /** What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that keeps its meaning, or `reject` the request. */
  on_unicode?: "send" | "transliterate" | "reject";
  /** Refuse the message if it takes more segments. */
  max_segments?: number;
}

/** One message to one phone number. */
export interface Message {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
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
  /** Credits: reserved, then charged; 0 if they were released. */
  cost: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that it was last submitted to; null if none. */
  carrier: string | null;
  /** The country of the phone number's prefix, as two letters of ISO 3166-1; null if it has none, or if the number was erased. */
  country: string | null;
  /** The group of a group send; null for other sends. */
  group_id: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error: MessageError | null;
  /** When it was submitted to the carrier; null if it was not. If a crash left it in doubt, the latest possible time. */
  submitted_at: string | null;
  /** When it got its final status; null if it has none yet. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
}

export interface MessagePage {
  /** The entries. */
  data: Array<Message>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** One message to one phone number, as a search shows it. */
export interface FoundMessage {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
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
  /** Credits: reserved, then charged; 0 if they were released. */
  cost: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that it was last submitted to; null if none. */
  carrier: string | null;
  /** The country of the phone number's prefix, as two letters of ISO 3166-1; null if it has none, or if the number was erased. */
  country: string | null;
  /** The group of a group send; null for other sends. */
  group_id: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error: MessageError | null;
  /** When it was submitted to the carrier; null if it was not. If a crash left it in doubt, the latest possible time. */
  submitted_at: string | null;
  /** When it got its final status; null if it has none yet. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
  /** The text sent to this phone number; null if it was erased. Only with `texts=true`. */
  text?: string | null;
}

export interface FoundMessagePage {
  /** The entries. */
  data: Array<FoundMessage>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** One submit of a message to a carrier. */
export interface Attempt {
  /** The carrier that it was submitted to. */
  carrier: string | null;
  /** The route, and why it selected this carrier; null if there is only one carrier. */
  route: string | null;
  /** When it was submitted. */
  submitted_at: string;
  /** When the carrier responded; null if it did not. */
  answered_at: string | null;
  /** The carrier's response: `rejected` is permanent, `failed` is temporary, `in_doubt` means there was none. */
  answer: "accepted" | "rejected" | "failed" | "in_doubt";
  /** The carrier's own code; null if it gave none. */
  carrier_code: string | null;
  /** Milliseconds from submit to response; null if there was no response, or if unknown. */
  latency_ms: number | null;
}

/** An event in a message's timeline. */
export interface Event {
  /** When it happened, by our clock. */
  at: string;
  /** What happened: `accepted`, `due`, `attempt_failed`, or the message's new status. */
  type: string;
  /** The carrier that the message was submitted to. */
  carrier?: string;
  /** The route, and why it selected this carrier; null if there is only one carrier. */
  route?: string | null;
  /** The carrier's id for the message. */
  carrier_reference?: string | null;
  /** Number of submits to a carrier. */
  attempts?: number;
  /** The error; null if there was none. */
  error?: MessageError | null;
  /** Human-readable explanation of this occurrence. */
  detail?: string;
  /** When it happened by the carrier's clock; null if the carrier gave no time. `at` is when we received it. */
  carrier_at?: string | null;
  /** The precision of `carrier_at`. SMPP receipts usually give minutes. */
  carrier_at_precision?: "minute" | "second" | "millisecond" | null;
  /** What resolved the doubt: a late response (`answer`), a receipt, the operator, a report from the carrier (`reconciliation`), or the end of the message's validity; null if it is unresolved. */
  resolved_by?: "answer" | "receipt" | "operator" | "reconciliation" | "validity" | null;
  /** The carrier's evidence: its id for the message, or its code; null if it gave none. */
  evidence?: string | null;
}

/** Uncertainty about a message that was submitted but got no response from the carrier. */
export interface Doubt {
  /** When the wait for a response ended. */
  since: string;
  /** Why: a code of `GET /errors?kind=message`. */
  reason: string;
  /** When the doubt was resolved; null if it was not. */
  resolved_at: string | null;
  /** What resolved the doubt: a late response (`answer`), a receipt, the operator, a report from the carrier (`reconciliation`), or the end of the message's validity; null if it is unresolved. */
  resolved_by: "answer" | "receipt" | "operator" | "reconciliation" | "validity" | null;
  /** The carrier's evidence: its id for the message, or its code; null if it gave none. */
  evidence: string | null;
}

/** One message to one phone number, with its text and timeline. */
export interface MessageDetail {
  /** Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one. */
  reference: string | null;
  /** Whether it belongs to the sandbox: it reaches no phone and uses play credits. */
  test: boolean;
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
  /** Credits: reserved, then charged; 0 if they were released. */
  cost: number;
  /** The message's purpose, which decides its priority. */
  category: "authentication" | "transactional" | "marketing";
  /** The carrier that it was last submitted to; null if none. */
  carrier: string | null;
  /** The country of the phone number's prefix, as two letters of ISO 3166-1; null if it has none, or if the number was erased. */
  country: string | null;
  /** The group of a group send; null for other sends. */
  group_id: string | null;
  /** Why it was not delivered, or is in doubt; null if there was no error. */
  error: MessageError | null;
  /** When it was submitted to the carrier; null if it was not. If a crash left it in doubt, the latest possible time. */
  submitted_at: string | null;
  /** When it got its final status; null if it has none yet. */
  finished_at: string | null;
  /** When it was accepted. */
  created_at: string;
  /** The text sent to this phone number, with its placeholders filled in; null if it was erased. */
  text: string | null;
  /** `gsm7` if every character fits, otherwise `ucs2`. */
  encoding: "gsm7" | "ucs2";
  /** The text of each segment. */
  parts: Array<string>;
  /** Submits to carriers, oldest first, without those that the carrier throttled. */
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

/** Where to send the browser, and what to keep until it comes back. */
export interface OidcBegun {
  /** Send the person's browser there. */
  authorization_url: string;
  /** Keep it where only this browser has it, such as its cookie, for POST /api/v1/sign-in/oidc/complete. */
  attempt: string;
  /** When the attempt expires. */
  expires_at: string;
}

/** What the browser has brought back, with the attempt that it began. */
export interface OidcReturned {
  /** The attempt that this browser began. */
  attempt: string;
  /** The `state` of the provider's response. */
  state: string;
  /** The `code` of the provider's response. */
  code: string;
  /** The token of an invitation to accept; it must be for the same e-mail address. */
  invitation_token?: string;
}

/** A person of the account. */
export interface Member {
  /** The person. */
  person_id: string;
  /** Their e-mail address. */
  email: string;
  /** Their name. */
  name: string;
  /** Their role in the account. */
  role: "owner" | "sender" | "viewer";
  /** Whether their sign-in needs a code. */
  totp: boolean;
  /** When they signed in last; null if never. */
  last_sign_in_at: string | null;
  /** When they joined the account. */
  created_at: string;
}

export interface MemberPage {
  /** The entries. */
  data: Array<Member>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Another role in the account. */
export interface ChangeRole {
  /** The new role. */
  role: "owner" | "sender" | "viewer";
}

/** The person is no longer in the account. */
export interface RemovedMember {
  /** The person. */
  person_id: string;
  /** Their tokens for the account are revoked. */
  removed: boolean;
}

/** What changes next. */
export interface NextPrice {
  /** The next version of the list. */
  version: number;
  /** From when it is valid. */
  valid_from: string;
  /** With `phone`: the next price; null: none, so that sends are refused. */
  price?: number | null;
}

/** A price of the list. */
export interface Price {
  /** The first digits of the phone numbers; null: all others. */
  prefix: string | null;
  /** The country of the prefix, by ISO 3166-1; null: none or several. */
  country: string | null;
  /** The category; null: all without a price of their own. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** Credits per segment. */
  price: number;
}

/** Without `phone`, the whole list in pages; with `phone`, its one price. */
export interface Prices {
  /** The name of the price list; null: none, and a segment costs one credit. */
  list: string | null;
  /** The version of the list that is valid then; sends are charged by it. */
  version: number | null;
  /** From when the version is valid. */
  valid_from: string | null;
  /** The next version; with `phone`, the next other price. Null if none is announced. */
  next: NextPrice | null;
  /** Without `phone`: prices by category and prefix. */
  data?: Array<Price>;
  /** Without `phone`: the `cursor` of the next page. */
  next_cursor?: string | null;
  /** With `phone`: credits per segment. */
  price?: number;
  /** With `phone`: the matched prefix; null: any. */
  prefix?: string | null;
  /** With `phone`: the matched category; null: any. */
  category?: "authentication" | "transactional" | "marketing" | null;
}

/** The person to erase. */
export interface ErasureBody {
  /** Digits only, starting with the country code. */
  phone: string;
}

/** What was erased. */
export interface ErasureCounts {
  /** Messages whose phone number was erased. Their status and cost are kept. */
  messages: number;
  /** Texts of sends to this phone number only. */
  texts: number;
  /** Contacts removed, in all groups. */
  contacts: number;
  /** Inbound messages from the phone number. */
  inbound: number;
}

/** An erasure. It serves as a confirmation and does not contain the phone number. */
export interface Erasure {
  /** The erasure; keep the id as the confirmation. */
  erasure_id: string;
  /** `pending` until the phone number is erased everywhere. Messages already submitted are waited for, and those not yet submitted are not sent. `failed` if the service could not complete it; the operator sees this. */
  status: "pending" | "completed" | "failed";
  /** What has been erased so far. */
  counts: ErasureCounts;
  /** When it was requested. */
  created_at: string;
  /** When it was completed; null if it is not. */
  completed_at: string | null;
}

export interface ErasurePage {
  /** The entries. */
  data: Array<Erasure>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** The sandbox's play credits after a refill. */
export interface Refill {
  /** Play credits added. */
  added: number;
  /** Credits left to spend after this. */
  balance: number;
  /** Credits reserved for unfinished messages. */
  reserved: number;
}

/** A sender ID and its status. */
export interface Sender {
  /** The id for DELETE /sender-ids/{sender}. */
  id: string;
  /** The sender ID. */
  sender_id: string;
  /** Whether it is a name, a short code or a phone number. */
  form: "alphanumeric" | "short_code" | "number";
  /** Current status. Sends need an `approved` sender ID. */
  status: "pending" | "approved" | "rejected" | "suspended";
  /** Why it was rejected or suspended; null if no reason was given. */
  reason: string | null;
  /** What the sender ID is for. The operator reads this. */
  use_case: string | null;
  /** When it was requested. */
  created_at: string;
  /** When the operator decided; null if pending. */
  decided_at: string | null;
}

export interface SenderPage {
  /** The entries. */
  data: Array<Sender>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A sender ID that the account requests. */
export interface SenderRequest {
  /** Use 1 to 11 of A-Z, a-z, 0-9, space and . - _ + &, with at least one letter and no leading or trailing space; a short code of 3 to 7 digits; or a phone number of 8 to 15 digits, starting with the country code. */
  sender_id: string;
  /** What the sender ID is for. The operator reads this. */
  use_case?: string;
}

/** The sender ID is deleted. */
export interface Deleted {
  /** The sender ID is deleted. */
  deleted: boolean;
}

/** How many messages of a send have one status and one error. */
export interface SendErrorCount {
  /** Their status. */
  status: "expired" | "failed" | "in_doubt" | "rejected" | "undelivered";
  /** Their error, a code of `GET /errors?kind=message`; null if it is no longer stored. */
  code: string | null;
  /** Number of these messages. */
  count: number;
}

/** Why messages of a send failed or are in doubt. */
export interface SendErrors {
  /** The counts, largest first. */
  data: Array<SendErrorCount>;
}

/** The recipients of a send that were not accepted. */
export interface RejectedRecipients {
  /** The recipients in their order, at most 1,000; `counts` of the send has the numbers of all. */
  data: Array<Rejected>;
}

/** The OpenID Connect provider. */
export interface OidcMethod {
  /** Its name, for a button. */
  name: string;
}

/** How people can sign in here, besides by a link. */
export interface SignInMethods {
  /** By e-mail address and password. */
  password: boolean;
  /** Through an OpenID Connect provider, with POST /api/v1/sign-in/oidc; null: there is none. */
  oidc: OidcMethod | null;
}

/** An e-mail address and password, with a code if the person uses TOTP. */
export interface EmailAndPassword {
  /** The person's e-mail address. */
  email: string;
  /** Their password. */
  password: string;
  /** A code of the authenticator app, or a recovery code. */
  code?: string;
}

/** The token of a sign-in link. */
export interface LinkToken {
  /** The token at the end of the link. */
  token: string;
}

/** An open bind. */
export interface SmppBind {
  /** Its kind. */
  kind: "transmitter" | "receiver" | "transceiver";
  /** The client's address. */
  address: string;
  /** Since when it is open. */
  since: string;
}

/** A credential with its open binds, without its password. */
export interface SmppCredential {
  /** The credential. */
  credential_id: string;
  /** The name that it binds with. */
  system_id: string;
  /** Whether it is of the sandbox: its messages reach no phone and use play credits. */
  test: boolean;
  /** Where it may bind from; null means anywhere. */
  allowed_ips: Array<string> | null;
  /** Maximum open binds. */
  max_binds: number;
  /** Maximum unanswered PDUs of a bind, in each direction. */
  window_size: number;
  /** Maximum submits per second; null means the account's requests per second. */
  rate: number | null;
  /** What `data_coding` 0 means. It cannot change while a bind is open. */
  alphabet: "gsm" | "latin1" | "utf8";
  /** The sender ID of submits without a source address. */
  default_sender: string | null;
  /** When it was created. */
  created_at: string;
  /** The open binds, oldest first. */
  binds: Array<SmppBind>;
}

export interface SmppCredentialPage {
  /** The entries. */
  data: Array<SmppCredential>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** A new credential. */
export interface MakeSmppCredential {
  /** The networks or addresses that it may bind from. */
  allowed_ips: Array<string>;
  /** Maximum open binds. */
  max_binds?: number;
  /** Maximum unanswered PDUs of a bind, in each direction. */
  window_size?: number;
  /** Maximum submits per second; null means the account's requests per second. */
  rate?: number | null;
  /** What `data_coding` 0 means. It cannot change while a bind is open. */
  alphabet?: "gsm" | "latin1" | "utf8";
  /** The sender ID of submits without a source address. */
  default_sender?: string | null;
  /** The name that it binds with: letters, digits, dots, hyphens and underscores. */
  system_id: string;
  /** Create it for the sandbox. Defaults to the kind of the key in use. */
  test?: boolean;
}

/** A new credential with its password, which is shown only once: a replayed response does not contain it. */
export interface NewSmppCredential {
  /** The credential. */
  credential_id: string;
  /** The name that it binds with. */
  system_id: string;
  /** Whether it is of the sandbox: its messages reach no phone and use play credits. */
  test: boolean;
  /** Where it may bind from; null means anywhere. */
  allowed_ips: Array<string> | null;
  /** Maximum open binds. */
  max_binds: number;
  /** Maximum unanswered PDUs of a bind, in each direction. */
  window_size: number;
  /** Maximum submits per second; null means the account's requests per second. */
  rate: number | null;
  /** What `data_coding` 0 means. It cannot change while a bind is open. */
  alphabet: "gsm" | "latin1" | "utf8";
  /** The sender ID of submits without a source address. */
  default_sender: string | null;
  /** When it was created. */
  created_at: string;
  /** The open binds, oldest first. */
  binds: Array<SmppBind>;
  /** The password; store it now. Absent if `Idempotency-Replayed` is true. */
  password?: string;
  /** Host and port to bind at; empty if the operator has not said. */
  server: string;
}

/** Settings of a credential, which hold from the next bind. Open binds keep theirs. */
export interface ChangeSmppCredential {
  /** The networks or addresses that it may bind from. */
  allowed_ips?: Array<string>;
  /** Maximum open binds. */
  max_binds?: number;
  /** Maximum unanswered PDUs of a bind, in each direction. */
  window_size?: number;
  /** Maximum submits per second; null means the account's requests per second. */
  rate?: number | null;
  /** What `data_coding` 0 means. It cannot change while a bind is open. */
  alphabet?: "gsm" | "latin1" | "utf8";
  /** The sender ID of submits without a source address. */
  default_sender?: string | null;
}

/** The credential is revoked. */
export interface RevokedSmpp {
  /** The credential. */
  credential_id: string;
  /** The name that it binds with. */
  system_id: string;
  /** Its binds end within seconds. */
  revoked: boolean;
}

/** What happened since `since` will be delivered again. */
export interface ReplayedSmpp {
  /** The credential. */
  credential_id: string;
  /** The name that it binds with. */
  system_id: string;
  /** Events from this time on. */
  since: string;
}

/** What moved the balance in a month: `opening` and the five sums add up to `closing`. */
export interface StatementSummary {
  /** The month, UTC, by the time of posting. */
  month: string;
  /** Whether the month is over and counted: then it never changes. */
  closed: boolean;
  /** Available and reserved credits when the month began. */
  opening: number;
  /** Credits of top-ups. */
  top_ups: number;
  /** Credits of reversed top-ups; negative. */
  reversals: number;
  /** Credits of adjustments; negative if more were taken than given. */
  adjustments: number;
  /** Credits charged for messages; negative. A reserve is not charged yet. */
  charges: number;
  /** Credits of refunds. */
  refunds: number;
  /** Available and reserved credits when it ended, or now. */
  closing: number;
}

export interface StatementSummaryList {
  /** The entries. */
  data: Array<StatementSummary>;
}

/** What was posted with one kind and, for messages, one sender ID, category and price. */
export interface StatementLine {
  /** The kind of the ledger's entries; `capture` is a charge. */
  kind: "topup" | "reversal" | "adjustment" | "capture" | "refund";
  /** Of refunds, the month in which their batch was first charged. */
  month: string | null;
  /** The messages' sender ID. */
  sender_id: string | null;
  /** Their category. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** Credits per message. */
  price: number | null;
  /** Number of messages; 0 if it is about none. */
  messages: number;
  /** Segments of the messages. */
  segments: number;
  /** Credits that the balance gained; negative if it lost them. */
  credits: number;
}

/** A month with its lines, whose credits are the difference of the two balances. */
export interface Statement {
  /** The month, UTC, by the time of posting. */
  month: string;
  /** Whether the month is over and counted: then it never changes. */
  closed: boolean;
  /** Available and reserved credits when the month began. */
  opening: number;
  /** Credits of top-ups. */
  top_ups: number;
  /** Credits of reversed top-ups; negative. */
  reversals: number;
  /** Credits of adjustments; negative if more were taken than given. */
  adjustments: number;
  /** Credits charged for messages; negative. A reserve is not charged yet. */
  charges: number;
  /** Credits of refunds. */
  refunds: number;
  /** Available and reserved credits when it ended, or now. */
  closing: number;
  /** What was posted, summed up. */
  lines: Array<StatementLine>;
}

/** A phone number that has opted out, and what the opt-out applies to. */
export interface Suppression {
  /** Digits only, starting with the country code. */
  phone: string;
  /** The category that the opt-out applies to; null means all. */
  category: "authentication" | "transactional" | "marketing" | null;
  /** The sender ID that the opt-out applies to; null means all. */
  sender_id: string | null;
  /** The reason; `stop` after a STOP, `possible_stop` if a message may be one and nobody has decided yet, `carrier` if a carrier reported it. */
  reason: string;
  /** When it was added to the list. */
  created_at: string;
}

export interface SuppressionPage {
  /** The entries. */
  data: Array<Suppression>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Phone numbers to add to the opt-out list. */
export interface SuppressionsBody {
  /** The category that the opt-out applies to; without it, all. */
  category?: "authentication" | "transactional" | "marketing";
  /** The sender ID that the opt-out applies to; without it, all. */
  sender_id?: string;
  /** 1 to 100,000 phone numbers, in international form or as written in the account's country. */
  phones: Array<string>;
  /** The reason, for your own records. */
  reason?: string;
}

/** Numbers of entries, by outcome. */
export interface SuppressedCounts {
  /** Entries in the request. */
  submitted: number;
  /** Phone numbers added to the list. */
  added: number;
  /** Phone numbers already on the list. */
  unchanged: number;
  /** Entries whose phone number was listed before in this request. */
  duplicate: number;
  /** Invalid entries; see `rejected`. */
  invalid: number;
}

/** A rejected entry. */
export interface RejectedSuppression {
  /** The entry's index in the list, from 0. */
  index: number;
  /** As given; null if it was not a string. */
  phone: string | null;
  /** Why it was rejected. */
  code: "invalid_phone" | "invalid";
  /** Human-readable reason. */
  detail: string;
}

/** The valid phone numbers are on the opt-out list. */
export interface Suppressed {
  /** Numbers of added and rejected entries. */
  counts: SuppressedCounts;
  /** The rejected entries, at most 1,000. */
  rejected: Array<RejectedSuppression>;
  /** Whether more were rejected than `rejected` lists. */
  rejected_truncated?: boolean;
}

/** The opt-outs were removed. */
export interface Unsuppressed {
  /** Digits only, starting with the country code. */
  phone: string;
  /** Opt-outs removed from the list. */
  removed: number;
}

/** A count of messages with a result. A dimension that is not grouped by is null. */
export interface Usage {
  /** The day on which the send was accepted, in UTC; null if not grouped by it. */
  day: string | null;
  /** The sender ID; null if not grouped by it. */
  sender_id: string | null;
  /** The country of the phone number's prefix, as two letters of ISO 3166-1. Null if not grouped by it, for phone numbers without a country, and for messages that were canceled or expired with their send. */
  country: string | null;
  /** The messages' category; null if not grouped by it. */
  category: string | null;
  /** Their status; null if not grouped by it. */
  status: "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" | null;
  /** Number of messages. */
  messages: number;
  /** Credits charged for those that a carrier accepted: `sent`, `delivered` and `undelivered`. */
  credits: number;
}

/** A page of counts, and the time of the last count. */
export interface UsagePage {
  /** The entries. */
  data: Array<Usage>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** When today's messages were last counted: seconds ago, or longer on a busy day. Earlier hours are counted again at growing intervals while their messages change. Null if nothing has been counted. */
  counted_at: string | null;
}

/** A phone to which a code is sent. */
export interface NewVerification {
  /** A sender ID of the account. */
  sender_id: string;
  /** Digits only, starting with the country code. */
  phone: string;
  /** What the code is for. A phone number has one open verification for each purpose. */
  purpose?: string;
  /** The language of the text: `en`, `de`, `es`, `fr`, `sw`, or another one in which your account has a text. */
  language?: string;
  /** The domain of the page that asks for the code: browsers then offer to enter it (WebOTP). */
  web_otp_domain?: string;
  /** The hash of your Android app, which can then read the code (SMS Retriever). Not with `web_otp_domain`. */
  sms_retriever_hash?: string;
}

/** A verification whose code is being sent. */
export interface Started {
  /** The verification. */
  verification_id: string;
  /** `approved`: the code is right. `pending`: it is awaited, or was wrong and may be entered again. Otherwise none is right any more: it is `expired`, `exhausted` by wrong ones, or `replaced` by a newer verification. */
  status: "pending" | "approved" | "expired" | "exhausted" | "replaced";
  /** How many wrong codes may still be entered. */
  checks_left: number;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** What the code is for. */
  purpose: string;
  /** How often the code was sent. */
  sends: number;
  /** When it was started. */
  created_at: string;
  /** Until when its code is valid. */
  expires_at: string;
  /** When its code was entered; null if it was not. */
  approved_at: string | null;
  /** The send of the code. */
  send_id: string;
  /** Its message. */
  message_id: string;
  /** The cost of the send, in credits. */
  cost: number;
  /** From when the code may be sent again. */
  resend_at: string;
}

/** A code that a person has entered. */
export interface EnteredCode {
  /** The code as it was entered; blanks, hyphens and the script of its digits do not matter. */
  code: string;
}

/** The result of a check. */
export interface Check {
  /** The verification. */
  verification_id: string;
  /** `approved`: the code is right. `pending`: it is awaited, or was wrong and may be entered again. Otherwise none is right any more: it is `expired`, `exhausted` by wrong ones, or `replaced` by a newer verification. */
  status: "pending" | "approved" | "expired" | "exhausted" | "replaced";
  /** How many wrong codes may still be entered. */
  checks_left: number;
}

/** A verification. */
export interface Verification {
  /** The verification. */
  verification_id: string;
  /** `approved`: the code is right. `pending`: it is awaited, or was wrong and may be entered again. Otherwise none is right any more: it is `expired`, `exhausted` by wrong ones, or `replaced` by a newer verification. */
  status: "pending" | "approved" | "expired" | "exhausted" | "replaced";
  /** How many wrong codes may still be entered. */
  checks_left: number;
  /** Digits only, starting with the country code; null if it was erased. */
  phone: string | null;
  /** What the code is for. */
  purpose: string;
  /** How often the code was sent. */
  sends: number;
  /** When it was started. */
  created_at: string;
  /** Until when its code is valid. */
  expires_at: string;
  /** When its code was entered; null if it was not. */
  approved_at: string | null;
}

export interface VerificationPage {
  /** The entries. */
  data: Array<Verification>;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
}

/** Verifications of one country or prefix. */
export interface Rate {
  /** The country, by ISO 3166-1, or the prefix; null for no country. */
  group: string | null;
  /** Verifications. */
  started: number;
  /** How often their codes were sent. */
  sends: number;
  /** Verifications whose code was entered. */
  approved: number;
  /** Those that ended by wrong checks. */
  exhausted: number;
  /** Those whose code was not entered in time. */
  expired: number;
}

export interface RateList {
  /** The entries. */
  data: Array<Rate>;
}

export interface MessageSentEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageDeliveredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageUndeliveredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageFailedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageRejectedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageExpiredEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageCanceledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageInDoubtEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageEventData;
}

export interface MessageReceivedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: MessageReceivedData;
}

export interface SendCompletedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SendEventData;
}

export interface SendCanceledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SendEventData;
}

export interface SendHeldEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SendEventData;
}

export interface SuppressionCreatedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SuppressionEventData;
}

export interface SenderIdApprovedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SenderIdEventData;
}

export interface SenderIdRejectedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SenderIdEventData;
}

export interface SenderIdSuspendedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SenderIdEventData;
}

export interface BalanceLowEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: LowBalanceData;
}

export interface SpendThresholdEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: SpendThresholdData;
}

export interface StatementClosedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: StatementClosedData;
}

export interface PriceChangedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: PriceChangedData;
}

export interface VerificationApprovedEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: VerificationApprovedData;
}

export interface WebhookDisabledEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: WebhookDisabledData;
}

export interface WebhookTestEvent {
  /** What happened. */
  type: string;
  /** When the event happened. */
  timestamp: string;
  /** What the event is about. */
  data: WebhookTestData;
}

export interface CsvForm {
  /** The CSV file. */
  file: string;
}

export interface Operations {
  /** Send one message to one phone number. */
  sendMessage(request: { body: SingleSend; key?: string; signal?: AbortSignal }): Promise<Single>;
  /** Send one message to up to 100,000 phone numbers. */
  sendBulk(request: { body: BulkSend; key?: string; signal?: AbortSignal }): Promise<Bulk>;
  /** Send one message to every contact of a group. */
  sendGroup(request: { body: GroupSend; key?: string; signal?: AbortSignal }): Promise<Bulk>;
  /** Get the cost of a send and the recipients that it would reject, without sending anything. */
  createQuote(request: { body: SingleSend | BulkSend | GroupSend; key?: string; signal?: AbortSignal }): Promise<Quote>;
  /** List the API keys that are not revoked, without secrets. A test key sees only the sandbox's keys. */
  listApiKeys(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ApiKeyPage>;
  /** Create an API key with at most the permissions of the key in use. Its secret is shown only once. */
  createApiKey(request: { body: MakeApiKey; key?: string; signal?: AbortSignal }): Promise<NewApiKey>;
  /** Create a new secret for a key, shown only once. The previous one works until old_secret_expires_at. */
  rotateApiKeySecret(request: { path: { key_id: string }; body: RotateApiKey; key?: string; signal?: AbortSignal }): Promise<RotatedApiKey>;
  /** Revoke a key. It and its tokens stop working within five seconds. */
  revokeApiKey(request: { path: { key_id: string }; signal?: AbortSignal }): Promise<RevokedApiKey>;
  /** Exchange an API key and secret for a bearer token, valid for 24 hours. */
  createToken(request?: { body?: Credentials; signal?: AbortSignal }): Promise<Token>;
  /** Revoke the token in use, or the one given as token. It stops working within five seconds. */
  revokeAccessToken(request?: { body?: RevokeToken; signal?: AbortSignal }): Promise<Revoked>;
  /** Show the credits left to spend, and those reserved. */
  getBalance(request?: { signal?: AbortSignal }): Promise<Balance>;
  /** List the ledger, newest first. Each entry names its send, batch or message. */
  listTransactions(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<TransactionPage>;
  /** List changes of the account's rights, money and settings, newest first. */
  listChanges(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ChangePage>;
  /** List the contact groups with their contact counts. Without parameters, all of them. */
  listGroups(request?: { query?: { limit?: number; cursor?: string; search?: string }; signal?: AbortSignal }): Promise<GroupPage>;
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
  /** Add up to 100,000 contacts to a group, or update those already in it. */
  addContacts(request: { path: { group_id: string }; body: ContactsBody; key?: string; signal?: AbortSignal }): Promise<PutContacts>;
  /** Remove up to 100,000 phone numbers from a group. Phone numbers that are not in it are counted as absent. */
  removeContacts(request: { path: { group_id: string }; body: PhonesBody; signal?: AbortSignal }): Promise<RemovedContacts>;
  /** List the account's webhooks. */
  listWebhooks(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<WebhookPage>;
  /** Create a webhook, signed according to Standard Webhooks 1.0. Only this response contains its secret. */
  createWebhook(request: { body: WebhookBody; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Show one webhook. */
  getWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<Webhook>;
  /** Change, disable or enable a webhook. */
  updateWebhook(request: { path: { webhook_id: string }; body: WebhookChange; signal?: AbortSignal }): Promise<Webhook>;
  /** Delete a webhook and the log of its deliveries. Posts in progress may still arrive. */
  deleteWebhook(request: { path: { webhook_id: string }; signal?: AbortSignal }): Promise<DeletedWebhook>;
  /** Create a new secret. For 24 hours posts are also signed with the previous one, so that receivers can switch. */
  rotateWebhookSecret(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Secret>;
  /** Post a webhook.test event to this webhook. The deliveries show its outcome. */
  testWebhook(request: { path: { webhook_id: string }; key?: string; signal?: AbortSignal }): Promise<Test>;
  /** List the webhook's deliveries, newest first, without events that wait for their first attempt. */
  listDeliveries(request: { path: { webhook_id: string }; query?: { limit?: number; cursor?: string; status?: "pending" | "delivered" | "failed" }; signal?: AbortSignal }): Promise<DeliveryPage>;
  /** Post an event to this webhook again, with the same id, whatever its status. */
  replayDelivery(request: { path: { webhook_id: string; event_id: string }; key?: string; signal?: AbortSignal }): Promise<Delivery>;
  /** Post all undelivered events since a time, including those that happened while the webhook was disabled. */
  recoverWebhook(request: { path: { webhook_id: string }; body: RecoverBody; key?: string; signal?: AbortSignal }): Promise<Recover>;
  /** List every error code of requests or, with kind=message, of messages. */
  listErrors(request?: { query?: { kind?: "request" | "message" }; signal?: AbortSignal }): Promise<ErrorEntryPage>;
  /** Explain one error code of requests or messages. */
  getError(request: { path: { code: string }; signal?: AbortSignal }): Promise<ErrorEntry>;
  /** Read events, oldest first, starting after the last one that you handled. */
  listEvents(request?: { query?: { limit?: number; cursor?: string; after?: string; types?: string }; signal?: AbortSignal }): Promise<StreamEventPage>;
  /** Export any number of messages to a file, newest send first, in the background. */
  exportMessages(request: { body: ExportRequest; key?: string; signal?: AbortSignal }): Promise<Export>;
  /** List the account's exports, newest first: at most ten. */
  listExports(request?: { signal?: AbortSignal }): Promise<ExportList>;
  /** Show the progress of an export. */
  getExport(request: { path: { export_id: string }; signal?: AbortSignal }): Promise<Export>;
  /** Delete an export with its file, or stop one that is running. */
  deleteExport(request: { path: { export_id: string }; signal?: AbortSignal }): Promise<DeletedExport>;
  /** Import a CSV file of up to 100 MB into a group, in the background. */
  importContacts(request: { path: { group_id: string }; query?: { country?: string; phone_column?: string; fields?: string }; body: string; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the account's imports, newest first. */
  listImports(request?: { query?: { limit?: number; cursor?: string; group_id?: string }; signal?: AbortSignal }): Promise<ImportPage>;
  /** Show the progress of an import. */
  getImport(request: { path: { import_id: string }; signal?: AbortSignal }): Promise<Import>;
  /** List the rows that are not valid contacts, in order; with Accept: text/csv, stream all of them as CSV. */
  listImportErrors(request: { path: { import_id: string }; query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ImportErrorPage>;
  /** Stop an import. Contacts imported so far stay in the group. */
  cancelImport(request: { path: { import_id: string }; key?: string; signal?: AbortSignal }): Promise<Import>;
  /** List the messages that phones sent to the account's numbers, newest first. */
  listInboundMessages(request?: { query?: { limit?: number; cursor?: string; phone?: string; sender_id?: string; keyword?: "stop" | "start" | "possible_stop"; latest?: boolean; since?: string; until?: string }; signal?: AbortSignal }): Promise<InboundPage>;
  /** Show what an invitation offers, to whoever has its token. */
  previewInvitation(request: { body: InvitationToken; signal?: AbortSignal }): Promise<InvitationPreview>;
  /** Accept an invitation and sign in. */
  acceptInvitation(request: { body: Acceptance; signal?: AbortSignal }): Promise<SignedIn>;
  /** List the account's open invitations. */
  listInvitations(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<InvitationPage>;
  /** Invite a person to the account. The token of the invitation is shown only once, and is valid for 7 days. */
  createInvitation(request: { body: Invite; key?: string; signal?: AbortSignal }): Promise<NewInvitation>;
  /** Revoke an invitation, so that it cannot be accepted any more. */
  deleteInvitation(request: { path: { invitation_id: string }; signal?: AbortSignal }): Promise<RevokedInvitation>;
  /** Show all limits, and the account's backlog. */
  getLimits(request?: { signal?: AbortSignal }): Promise<Limits>;
  /** Change the password. All other sessions of the person end, and their tokens within five seconds. */
  changeMyPassword(request: { body: ChangePassword; signal?: AbortSignal }): Promise<PasswordChanged>;
  /** Get a secret for an authenticator app. TOTP is on as soon as a code confirms it. */
  beginMyTotp(request: { body: OwnPassword; signal?: AbortSignal }): Promise<Totp>;
  /** Switch TOTP on with a code of the app. The response has the recovery codes, which are shown only once. */
  confirmMyTotp(request: { body: ConfirmTotp; signal?: AbortSignal }): Promise<RecoveryCodes>;
  /** Switch TOTP off and forget the recovery codes. */
  disableMyTotp(request: { body: OwnPassword; signal?: AbortSignal }): Promise<TotpDisabled>;
  /** Show the person who is signed in, with their accounts and roles. */
  getMe(request?: { signal?: AbortSignal }): Promise<Me>;
  /** Change the name, language or time zone of the person who is signed in. */
  updateMe(request: { body: ChangeMe; signal?: AbortSignal }): Promise<Me>;
  /** List the sessions of the person who is signed in, newest first. */
  listMySessions(request?: { signal?: AbortSignal }): Promise<SessionPage>;
  /** End a session of the person who is signed in. Its tokens stop working within five seconds. */
  endMySession(request: { path: { session_id: string }; signal?: AbortSignal }): Promise<SessionEnded>;
  /** End the session in use. Its tokens stop working within five seconds. */
  signOut(request?: { signal?: AbortSignal }): Promise<SessionEnded>;
  /** Get a token for one of the person's accounts, or its sandbox, with the scopes of their role. */
  createMyToken(request: { body: TokenRequest; signal?: AbortSignal }): Promise<AccountToken>;
  /** Get a token for the operator API, with the scopes of the person's role in the installation. */
  createMyOperatorToken(request: { body: OperatorTokenRequest; signal?: AbortSignal }): Promise<PersonToken>;
  /** List the account's sends, newest first. */
  listSends(request?: { query?: { limit?: number; cursor?: string; status?: "scheduled" | "expanding" | "queued" | "sending" | "paused" | "held" | "completed" | "canceled"; reference?: string; in_progress?: boolean }; signal?: AbortSignal }): Promise<SendPage>;
  /** Show one send: its status, counts by message status, cost, and estimated completion. */
  getSend(request: { path: { send_id: string }; signal?: AbortSignal }): Promise<Send>;
  /** Change when a send is due or expires, its rate, or its text. */
  updateSend(request: { path: { send_id: string }; body: SendChanges; signal?: AbortSignal }): Promise<Send>;
  /** Cancel the messages not yet submitted to a carrier and release their credits. Also needs the scope sms:read. */
  cancelSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Stop submitting messages until the send is resumed. Also needs the scope sms:read. */
  pauseSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** Resume a paused send, or one held by its canary or stop_if. That rule then no longer applies. */
  resumeSend(request: { path: { send_id: string }; key?: string; signal?: AbortSignal }): Promise<Send>;
  /** List the messages of a send in order; with Accept: text/csv, stream all of them as CSV. */
  listSendMessages(request: { path: { send_id: string }; query?: { limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered" }; signal?: AbortSignal }): Promise<MessagePage>;
  /** List the account's messages, newest send first, with filters. */
  listMessages(request?: { query?: { phone?: string; error?: "invalid_recipient" | "unknown_subscriber" | "not_mobile" | "recipient_blocked" | "recipient_opted_out" | "absent_subscriber" | "handset_error" | "invalid_sender" | "invalid_message" | "content_blocked" | "no_route" | "rejected_by_carrier" | "protocol_error" | "carrier_account" | "carrier_unavailable" | "throttled" | "undelivered" | "validity_expired" | "deleted_by_carrier" | "unknown_outcome" | "partly_sent" | "carrier_error" | "suppressed" | "frequency_capped" | "expired" | "canceled" | "no_response" | "worker_stopped" | "not_sent"; permanent?: boolean; carrier?: string; country?: string; reference?: string; category?: "authentication" | "transactional" | "marketing"; group_id?: string; since?: string; until?: string; limit?: number; cursor?: string; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered"; texts?: boolean }; signal?: AbortSignal }): Promise<FoundMessagePage>;
  /** Show one message: its text as sent to this phone number, its attempts and its timeline. */
  getMessage(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<MessageDetail>;
  /** Cancel one message not yet submitted to a carrier, and release its credits. Also needs the scope sms:read. */
  cancelMessage(request: { path: { message_id: string }; key?: string; signal?: AbortSignal }): Promise<Message>;
  /** Show a message's timeline: acceptance, attempts, the carrier's responses, doubt and receipts. */
  listMessageEvents(request: { path: { message_id: string }; signal?: AbortSignal }): Promise<Events>;
  /** Begin to sign in through the OpenID Connect provider, if the operator has set one. */
  beginOidc(request?: { signal?: AbortSignal }): Promise<OidcBegun>;
  /** Sign in with what the provider's response has brought, and accept an invitation with it. */
  completeOidc(request: { body: OidcReturned; signal?: AbortSignal }): Promise<SignedIn>;
  /** List the people of the account, with their roles. */
  listPeople(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<MemberPage>;
  /** Change the role of a person in the account. Their tokens for it stop working within five seconds. */
  updatePerson(request: { path: { person_id: string }; body: ChangeRole; signal?: AbortSignal }): Promise<Member>;
  /** Remove a person from the account. Their tokens for it stop working within five seconds. */
  removePerson(request: { path: { person_id: string }; signal?: AbortSignal }): Promise<RemovedMember>;
  /** Show what a segment costs now, or at a later time, and next: to a phone number, or by the whole price list. */
  getPrices(request?: { query?: { limit?: number; cursor?: string; phone?: string; category?: "authentication" | "transactional" | "marketing"; at?: string }; signal?: AbortSignal }): Promise<Prices>;
  /** Erase a person: the phone number in the account, texts sent to it alone, and messages received from it. */
  createErasure(request: { body: ErasureBody; key?: string; signal?: AbortSignal }): Promise<Erasure>;
  /** List the account's erasures, newest first. */
  listErasures(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<ErasurePage>;
  /** Show one erasure: whether it is complete, and what has been erased. */
  getErasure(request: { path: { erasure_id: string }; signal?: AbortSignal }): Promise<Erasure>;
  /** Refill the sandbox's play credits to 1,000,000. Needs a test key. */
  refillSandbox(request?: { key?: string; signal?: AbortSignal }): Promise<Refill>;
  /** List the account's sender IDs and their status. */
  listSenderIds(request?: { query?: { limit?: number; cursor?: string; status?: "pending" | "approved" | "rejected" | "suspended"; search?: string }; signal?: AbortSignal }): Promise<SenderPage>;
  /** Request a sender ID, or request a rejected one again. */
  requestSenderId(request: { body: SenderRequest; key?: string; signal?: AbortSignal }): Promise<Sender>;
  /** Delete a sender ID. Sends already accepted continue; a suspended sender ID cannot be deleted. */
  deleteSenderId(request: { path: { sender: string }; signal?: AbortSignal }): Promise<Deleted>;
  /** Count the messages of a send that failed, expired or are in doubt, by status and error, most frequent first. */
  countSendErrors(request: { path: { send_id: string }; signal?: AbortSignal }): Promise<SendErrors>;
  /** List the recipients that were not accepted, each with the reason. */
  listRejectedRecipients(request: { path: { send_id: string }; signal?: AbortSignal }): Promise<RejectedRecipients>;
  /** How people can sign in here. */
  listSignInMethods(request?: { signal?: AbortSignal }): Promise<SignInMethods>;
  /** Sign in by e-mail address and password. */
  signIn(request: { body: EmailAndPassword; signal?: AbortSignal }): Promise<SignedIn>;
  /** Sign in by a link of bulksms person link, which works once, without password or code. */
  signInByLink(request: { body: LinkToken; signal?: AbortSignal }): Promise<SignedIn>;
  /** List the SMPP credentials of an account and its sandbox that are not revoked, with their open binds. */
  listSmppCredentials(request?: { query?: { limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<SmppCredentialPage>;
  /** Create an SMPP credential. Its password is shown only once; if it is lost, rotate it. */
  createSmppCredential(request: { body: MakeSmppCredential; key?: string; signal?: AbortSignal }): Promise<NewSmppCredential>;
  /** Change settings, which hold from the next bind. Open binds keep theirs: rotate the password to end them. */
  updateSmppCredential(request: { path: { credential_id: string }; body: ChangeSmppCredential; signal?: AbortSignal }): Promise<SmppCredential>;
  /** Revoke a credential. Its binds end within seconds, and what waits for it is not delivered. */
  revokeSmppCredential(request: { path: { credential_id: string }; signal?: AbortSignal }): Promise<RevokedSmpp>;
  /** Create a new password, shown only once. The old one stops working, and open binds end within seconds. */
  rotateSmppPassword(request: { path: { credential_id: string }; key?: string; signal?: AbortSignal }): Promise<NewSmppCredential>;
  /** Deliver all receipts and messages from phones since a time again, in order, also those that were answered. */
  replaySmpp(request: { path: { credential_id: string }; body: RecoverBody; key?: string; signal?: AbortSignal }): Promise<ReplayedSmpp>;
  /** List the months of the account, newest first: what moved the balance, by the time of posting. */
  listStatements(request?: { signal?: AbortSignal }): Promise<StatementSummaryList>;
  /** Show a month, such as 2026-03. A closed one never changes; GET /usage has the messages by country. */
  getStatement(request: { path: { month: string }; signal?: AbortSignal }): Promise<Statement>;
  /** List the opt-outs, ordered by phone number; with Accept: text/csv, stream all of them as CSV. */
  listSuppressions(request?: { query?: { limit?: number; cursor?: string; phone?: string; category?: "authentication" | "transactional" | "marketing"; sender_id?: string; reason?: string }; signal?: AbortSignal }): Promise<SuppressionPage>;
  /** Add up to 100,000 phone numbers to the opt-out list, for all messages, one category, one sender ID, or both. */
  createSuppressions(request: { body: SuppressionsBody; key?: string; signal?: AbortSignal }): Promise<Suppressed>;
  /** Add the rows of a CSV file to the opt-out list. */
  importSuppressions(request: { query?: { phone_column?: string }; body: string; key?: string; signal?: AbortSignal }): Promise<Suppressed>;
  /** Remove a phone number from the opt-out list; with category, sender_id or everything, only that opt-out. */
  deleteSuppression(request: { path: { phone: string }; query?: { category?: "authentication" | "transactional" | "marketing"; sender_id?: string; everything?: boolean }; signal?: AbortSignal }): Promise<Unsuppressed>;
  /** Count messages with a result by day, sender ID, country, category and status. Test sends are not counted. */
  getUsage(request?: { query?: { since?: string; until?: string; by?: string; sender_id?: string; country?: string; category?: "authentication" | "transactional" | "marketing"; status?: "scheduled" | "queued" | "sending" | "in_doubt" | "sent" | "rejected" | "failed" | "canceled" | "expired" | "undelivered" | "delivered"; limit?: number; cursor?: string }; signal?: AbortSignal }): Promise<UsagePage>;
  /** Send a code to a phone number, in the category authentication. */
  startVerification(request: { body: NewVerification; key?: string; signal?: AbortSignal }): Promise<Started>;
  /** List the account's verifications, newest first. They are deleted 30 days after they have expired. */
  listVerifications(request?: { query?: { limit?: number; cursor?: string; phone?: string }; signal?: AbortSignal }): Promise<VerificationPage>;
  /** Check a code that a person has entered. The response is always 200: status says whether the code is right. */
  checkVerification(request: { path: { verification_id: string }; body: EnteredCode; key?: string; signal?: AbortSignal }): Promise<Check>;
  /** Show one verification, without its code. */
  getVerification(request: { path: { verification_id: string }; signal?: AbortSignal }): Promise<Verification>;
  /** Count verifications by country or prefix, the most frequent first: how many codes were sent and entered. */
  getVerificationRates(request?: { query?: { since?: string; until?: string; by?: "country" | "prefix" }; signal?: AbortSignal }): Promise<RateList>;
}
