// A customer made of the npm package `smpp`: it binds, submits what it reads from stdin, a line of JSON for each message,
// and prints a line for each answer (its id) and for each receipt. It ends when there are as many receipts as answers.
'use strict';
const smpp = require('smpp');
const readline = require('readline');
const [port, systemId, password, window] = process.argv.slice(2);
const waiting = [];
let open = 0, answered = 0, receipts = 0, ended = false;

const session = smpp.connect({ url: `smpp://127.0.0.1:${port}` }, () => {
  session.bind_transceiver({ system_id: systemId, password }, (pdu) => {
    if (pdu.command_status) throw new Error(`bind: ${pdu.command_status}`);
    const lines = readline.createInterface({ input: process.stdin });
    lines.on('line', (line) => { waiting.push(JSON.parse(line)); next(); });
    lines.on('close', () => { ended = true; finish(); });
  });
});
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response());
  console.log(JSON.stringify({ receipt: pdu.receipted_message_id, text: pdu.short_message.message }));
  receipts += 1;
  finish();
});
session.on('enquire_link', (pdu) => session.send(pdu.response()));

function next() {
  while (open < Number(window) && waiting.length) {
    open += 1;
    const each = waiting.shift();
    const fields = {
      source_addr_ton: 5, source_addr: 'ACME', dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: each.to,
      registered_delivery: 1, data_coding: each.coding, esm_class: each.udh ? 0x40 : 0,
    };
    const octets = Buffer.from(each.octets, 'hex');
    if (each.payload) fields.message_payload = { message: octets };
    else if (each.udh) fields.short_message = { udh: Buffer.from(each.udh, 'hex'), message: octets };
    else fields.short_message = { message: octets };
    for (const name of ['sar_msg_ref_num', 'sar_total_segments', 'sar_segment_seqnum']) {
      if (each[name] !== undefined) fields[name] = each[name];
    }
    session.submit_sm(fields, (pdu) => {
      open -= 1;
      answered += 1;
      console.log(JSON.stringify({ to: each.to, status: pdu.command_status, id: pdu.message_id }));
      next();
      finish();
    });
  }
}

function finish() {
  if (ended && !open && !waiting.length && receipts >= answered) {
    session.unbind(() => { session.close(); process.exit(0); });
  }
}
