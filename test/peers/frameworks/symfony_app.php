<?php
// A Symfony application whose .env says how it sends, or as much of Laravel's as makes a transport of Symfony's out of
// its own settings: one letter, and what comes when it may not.

declare(strict_types=1);

use Symfony\Component\Mailer\Bridge\Mailgun\Transport\MailgunTransportFactory;
use Symfony\Component\Mailer\Exception\TransportExceptionInterface;
use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mailer\Transport\Dsn;
use Symfony\Component\Mailer\Transport\Smtp\EsmtpTransportFactory;
use Symfony\Component\Mime\Email;

require 'Symfony/Component/Mailer/autoload.php';
require 'Symfony/Component/HttpClient/autoload.php';
require 'AsyncAws/Core/autoload.php';
require 'AsyncAws/Ses/autoload.php';
foreach (['Amazon', 'Mailgun', 'Postmark', 'Sendgrid'] as $bridge) {
    require "Symfony/Component/Mailer/Bridge/$bridge/autoload.php";
}

function letter(string $from): Email
{
    return (new Email())
        ->from("Shop <$from>")
        ->to('you@example.com')
        ->cc('cc@example.com')
        ->bcc('bcc@example.com')
        ->subject('Grüße')
        ->text('Thank you.')
        ->html('<p>Thank you. <img src="cid:logo"></p>')
        ->embed('png', 'logo', 'image/png')
        ->attach(implode('', array_map('chr', range(0, 255))), 'data.bin', 'application/octet-stream');
}

$written = preg_replace_callback('/\$(\w+)/', fn ($found) => rawurlencode(getenv($found[1])), file_get_contents($argv[1]));
$set = [];
foreach (explode("\n", trim($written)) as $line) {
    [$name, $value] = explode('=', $line, 2);
    $set[$name] = $value;
}
$transport = match (true) {
    isset($set['MAILER_DSN']) => Transport::fromDsn($set['MAILER_DSN']),
    isset($set['MAIL_MAILER']) => (new EsmtpTransportFactory())->create(
        new Dsn('', $set['MAIL_HOST'], $set['MAIL_USERNAME'], $set['MAIL_PASSWORD'], (int) $set['MAIL_PORT']),
    ),
    default => (new MailgunTransportFactory())->create(
        new Dsn('mailgun+https', $set['MAILGUN_ENDPOINT'], $set['MAILGUN_SECRET'], $set['MAILGUN_DOMAIN']),
    ),
};
$transport->send(letter('shop@example.com'));
try {
    $transport->send(letter('shop@other.example'));
} catch (TransportExceptionInterface $error) {
    echo $error::class, "\n";
}
