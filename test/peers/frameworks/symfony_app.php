<?php
// A Symfony application whose .env says how it sends: one letter, and what comes when it may not.

declare(strict_types=1);

use Symfony\Component\Mailer\Exception\TransportExceptionInterface;
use Symfony\Component\Mailer\Transport;
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
[, $dsn] = explode('=', trim($written), 2);
$transport = Transport::fromDsn($dsn);
$transport->send(letter('shop@example.com'));
try {
    $transport->send(letter('shop@other.example'));
} catch (TransportExceptionInterface $error) {
    echo $error::class, "\n";
}
