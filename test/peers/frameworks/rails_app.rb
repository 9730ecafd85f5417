# A Rails application's mailer with the settings in a file, which sends one letter and prints what comes when it may not.
require 'action_mailer'
require 'active_support/core_ext/object/json'
require 'postmark'
require 'ostruct'

# So does postmark-rails.
ActionMailer::Base.add_delivery_method(:postmark, Mail::Postmark)
config = OpenStruct.new(action_mailer: ActionMailer::Base) # rubocop:disable Lint/UselessAssignment
eval(File.read(ARGV.fetch(0)), binding)

# The application's.
class Letters < ActionMailer::Base
  def letter(from)
    attachments['data.bin'] = (0..255).to_a.pack('C*')
    mail(from: "Shop <#{from}>", to: 'you@example.com', cc: 'cc@example.com', subject: 'Grüße') do |format|
      format.text { render plain: 'Thank you.' }
      format.html { render html: '<p>Thank you.</p>'.html_safe }
    end
  end
end

Letters.letter('shop@example.com').deliver_now
begin
  Letters.letter('shop@other.example').deliver_now
rescue StandardError => e
  puts e.class.name
end
