// Verifies posts, one JSON object a line with `secret`, `headers` and `body`; and that a changed body is refused.
const { createInterface } = require("node:readline");
const { Webhook } = require("standardwebhooks");

(async () => {
  let verified = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const { secret, headers, body } = JSON.parse(line);
    const webhook = new Webhook(secret);
    webhook.verify(body, headers);
    let refused = false;
    try {
      webhook.verify(body + " ", headers);
    } catch {
      refused = true;
    }
    if (!refused) throw new Error("a changed body was verified");
    verified += 1;
  }
  console.log(verified, "verified");
})();
