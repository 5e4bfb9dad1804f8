-- Each request is a sendsms to new phones. Arguments: phones per request, text, first phone.
local each, head, phone

function init(args)
   each = tonumber(args[1])
   head = "/cgi-bin/sendsms?username=bench&password=bench&from=ACME&text=" .. args[2] .. "&to="
   phone = tonumber(args[3])
end

function request()
   local to = {}
   for i = 1, each do
      to[i] = string.format("%.0f", phone + i)
   end
   phone = phone + each
   return wrk.format("GET", head .. table.concat(to, "+"))
end

function done(summary, latency)
   local e = summary.errors
   io.write(string.format('{"requests": %d, "errors": %d, "seconds": %f, "p50": %f, "p99": %f}',
      summary.requests - e.status, e.connect + e.read + e.write + e.status + e.timeout, summary.duration / 1e6,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
