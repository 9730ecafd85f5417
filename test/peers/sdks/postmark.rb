# Postmark's library for Ruby, unchanged, at the server that MAIL_URL names. Prints as JSON what it saw.
require 'json'
require 'uri'
require 'mail'
require 'postmark'

PLACE = URI(ENV.fetch('MAIL_URL'))
SERVER = { host: PLACE.host, port: PLACE.port, secure: false }.freeze
EMAIL = { from: 'Jane <jane@example.com>', to: ['bob@example.org'], subject: 'Grüße', text_body: 'Hi.' }.freeze

def client(key = ENV.fetch('MAIL_KEY'))
  Postmark::ApiClient.new(key, SERVER)
end

# The class of the exception that an application catches, and what it says.
def met
  yield
  nil
rescue Postmark::HttpServerError => e
  [e.class.name, e.status_code, e.respond_to?(:error_code) ? e.error_code : nil]
end

postmark = client
sent = postmark.deliver(
  EMAIL.merge(
    cc: 'cc@example.org',
    tag: 'receipt',
    metadata: { order: '4711' },
    attachments: [{ name: 'data.bin', content: [(0..255).to_a.pack('C*')].pack('m'), content_type: 'application/octet-stream' }]
  )
)
found = postmark.get_message(sent[:message_id])
batch = postmark.deliver_in_batches([EMAIL, EMAIL.merge(to: 'nobody')])

letter = Mail.new(from: EMAIL[:from], to: 'bob@example.org', subject: EMAIL[:subject], body: 'Hi.')
letter.add_file(filename: 'note.txt', content: 'by the gem mail')
letter.delivery_method(Mail::Postmark, SERVER.merge(api_token: ENV.fetch('MAIL_KEY')))
letter.deliver

postmark.create_suppressions('outbound', ['eve@example.org'])
partly = postmark.deliver(EMAIL.merge(to: ['bob@example.org', 'eve@example.org']))

puts JSON.generate(
  sent: [sent[:message_id], letter.message_id],
  found: [found[:subject], found[:status], found[:recipients], found[:tag], found[:text_body]],
  batch: batch.map { |answer| answer[:error_code] },
  inactive: Postmark::InactiveRecipientError.parse_recipients(partly[:message]),
  errors: {
    'wrong key' => met { client('wrong').deliver(EMAIL) },
    'no address' => met { postmark.deliver(EMAIL.merge(to: 'nobody')) },
    'another domain' => met { postmark.deliver(EMAIL.merge(from: 'a@other.example')) },
    'inactive' => met { postmark.deliver(EMAIL.merge(to: 'eve@example.org')) },
    'unknown message' => met { postmark.get_message('00000000-0000-0000-0000-000000000000') }
  }
)
