-- Each request sends to a new phone. Arguments: token, sender ID, text, first phone.
local phone, head, tail

function init(args)
   wrk.method = "POST"
   wrk.headers["Content-Type"] = "application/json"
   wrk.headers["Authorization"] = "Bearer " .. args[1]
   head = '{"sender_id": "' .. args[2] .. '", "phone": "'
   tail = '", "message": "' .. args[3] .. '"}'
   phone = tonumber(args[4])
end

function request()
   phone = phone + 1
   return wrk.format(nil, nil, nil, head .. string.format("%.0f", phone) .. tail)
end

function done(summary, latency)
   local e = summary.errors
   local bad = e.connect + e.read + e.write + e.status + e.timeout
   io.write(string.format('{"requests": %d, "errors": %d, "seconds": %f, "p50": %f, "p99": %f}',
      summary.requests - e.status, bad, summary.duration / 1e6, latency:percentile(50) / 1e3,
      latency:percentile(99) / 1e3))
end
