<?php
// Symfony's mailer, on which Laravel stands, unchanged: a message with each of the DSNs that the arguments name, and
// what comes when its sender is refused. Prints as JSON what it saw.

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
        ->from("Jane <$from>")
        ->to('bob@example.org')
        ->cc('cc@example.org')
        ->bcc('bcc@example.org')
        ->subject('Grüße')
        ->text('Hi.')
        ->html('<p>Hi. <img src="cid:logo"></p>')
        ->embed('png', 'logo', 'image/png')
        ->attach(implode('', array_map('chr', range(0, 255))), 'data.bin', 'application/octet-stream');
}

$seen = [];
foreach (array_slice($argv, 1) as $dsn) {
    $transport = Transport::fromDsn($dsn);
    $sent = $transport->send(letter('jane@example.com'))->getMessageId();
    try {
        $transport->send(letter('jane@other.example'));
        $refused = null;
    } catch (TransportExceptionInterface $error) {
        $refused = [$error::class, $error->getMessage()];
    }
    $seen[] = ['sent' => $sent, 'refused' => $refused];
}
echo json_encode($seen, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
