// An SMSC made of the npm package `smpp`: what it reads and writes is none of our code.
//
// It prints its port, then a line of JSON for each submit_sm as that package reads it: phone, sender, text, the user data
// header in hex, data_coding. Every message gets a receipt; after a line "speak" on stdin a phone writes STOP, long
// enough that it comes in two parts.
'use strict';
const smpp = require('smpp');
const sessions = [];
let ids = 0;

function receipt(session, id, pdu) {
  session.deliver_sm({
    esm_class: 4,
    source_addr_ton: 1, source_addr_npi: 1, source_addr: pdu.destination_addr,
    destination_addr: pdu.source_addr,
    short_message: `id:${id} sub:001 dlvrd:001 submit date:2605041230 done date:2605041231 stat:DELIVRD err:000 text:`,
  });
}

const server = smpp.createServer((session) => {
  session.on('error', () => session.destroy());
  for (const kind of ['bind_transceiver', 'bind_receiver', 'bind_transmitter']) {
    session.on(kind, (pdu) => {
      const right = pdu.system_id === 'us' && pdu.password === 'right';
      session.send(pdu.response(right ? { system_id: 'peer' } : { command_status: smpp.ESME_RINVPASWD }));
      if (right && kind !== 'bind_transmitter') sessions.push(session);
    });
  }
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  session.on('unbind', (pdu) => { session.send(pdu.response()); session.close(); });
  session.on('submit_sm', (pdu) => {
    const id = `peer-${++ids}`;
    const text = pdu.short_message.message !== undefined && pdu.short_message.message.length
      ? pdu.short_message.message : (pdu.message_payload || {}).message || '';
    const headers = (pdu.short_message.udh || []).map((each) => each.toString('hex'));
    const sar = pdu.sar_msg_ref_num === undefined ? null
      : [pdu.sar_msg_ref_num, pdu.sar_total_segments, pdu.sar_segment_seqnum];
    console.log(JSON.stringify({
      to: pdu.destination_addr, from: pdu.source_addr, text, headers, sar, coding: pdu.data_coding,
    }));
    session.send(pdu.response({ message_id: id }));
    if (pdu.registered_delivery & 3) setTimeout(() => receipt(sessions[0] || session, id, pdu), 20);
  });
});

process.stdin.on('data', () => {
  const session = sessions[0];
  const said = [['x'.repeat(153), 1], ['ёж 😀', 2]];
  for (const [message, number] of said) {
    session.deliver_sm({
      source_addr: '254711000000', destination_addr: 'ACME', esm_class: 0x40,
      short_message: { udh: Buffer.from([5, 0, 3, 7, 2, number]), message },
    });
  }
});
process.stdin.on('end', () => process.exit(0));

server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
