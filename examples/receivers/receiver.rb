require 'base64'
require 'json'
require 'openssl'
require 'webrick'

SECRETS = ENV.fetch('WEBHOOK_SECRET').split
TOLERANCE_SECONDS = 300
# Keep these in your database, so that they outlive a restart.
SEEN = {}

class VerificationError < StandardError; end

# Ruby joins repeated lines by a comma and a space.
def one(request, name)
  value = request[name].to_s
  raise VerificationError, "missing or repeated #{name}" if value.empty? || value.include?(', ')

  value
end

def same?(own, given)
  OpenSSL.secure_compare(own, given)
end

# The event's id, and the time it was signed at.
def verify_standard(raw_body, request)
  id = one(request, 'webhook-id')
  t = one(request, 'webhook-timestamp')
  own = SECRETS.map do |secret|
    key = Base64.strict_decode64(secret.delete_prefix('whsec_'))
    "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', key, "#{id}.#{t}.".b + raw_body))}"
  end
  given = one(request, 'webhook-signature').split
  raise VerificationError, 'signature mismatch' unless own.product(given).any? { |pair| same?(*pair) }

  [id, t]
end

# The delivery's id, and the time it was signed at.
def verify_service(raw_body, request)
  # Each of the two once; further fields are ignored.
  fields = one(request, 'x-service-signature').scan(/(?:\A|,)(t|v1)=([^,]*)/)
  t, v1 = fields.to_h.values_at('t', 'v1')
  whole = fields.length == 2 && t&.match?(/\A[0-9]{1,15}\z/) && v1&.match?(/\A[0-9a-f]{64}\z/)
  raise VerificationError, 'malformed header' unless whole

  own = SECRETS.map { |secret| OpenSSL::HMAC.hexdigest('SHA256', secret, "#{t}.".b + raw_body) }
  raise VerificationError, 'signature mismatch' unless own.any? { |digest| same?(digest, v1) }

  [request['x-service-delivery'].to_s, t]
end

# The id to deduplicate on, and { 'event' => ..., 'data' => ... }.
def verify(raw_body, request)
  id, t = request['webhook-signature'] ? verify_standard(raw_body, request) : verify_service(raw_body, request)
  fresh = t.match?(/\A[0-9]{1,15}\z/) && (Time.now.to_i - t.to_i).abs <= TOLERANCE_SECONDS
  raise VerificationError, 'timestamp out of range' unless fresh

  [id, JSON.parse(raw_body)]
end

$stdout.sync = true
started = proc { puts "listening on #{$server.listeners.first.addr[1]}" }
$server = WEBrick::HTTPServer.new(
  BindAddress: '127.0.0.1', Port: ENV.fetch('PORT', '8080').to_i,
  StartCallback: started, AccessLog: [], Logger: WEBrick::Log.new(File::NULL)
)
$server.mount_proc('/') do |request, response|
  raw_body = request.body.to_s.b
  id, body = verify(raw_body, request)
  unless SEEN.key?(id)
    SEEN[id] = true
    puts "received #{body['event']} #{JSON.generate(body['data'])}"
  end
  response.status = 204
rescue VerificationError => e
  response.status = 400
  response.body = e.message
end
$server.start
