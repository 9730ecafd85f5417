<?php
// As much of WordPress as the plugin in a file needs, around the PHPMailer that WordPress has: sends one letter, and
// prints what comes when it may not.

declare(strict_types=1);

use PHPMailer\PHPMailer\Exception;
use PHPMailer\PHPMailer\PHPMailer;

require 'libphp-phpmailer/autoload.php';
define('MAIL_KEY', getenv('MAIL_KEY'));

$hooks = [];
function add_action(string $name, callable $hook): void
{
    $GLOBALS['hooks'][$name] = $hook;
}
function add_filter(string $name, callable $hook): void
{
    add_action($name, $hook);
}

function send(?string $from = null): void
{
    $mailer = new PHPMailer(true);
    $mailer->CharSet = 'UTF-8';
    $mailer->setFrom($from ?? $GLOBALS['hooks']['wp_mail_from']('wordpress@localhost'), 'Shop', false);
    $mailer->addAddress('you@example.com');
    $mailer->addCC('cc@example.com');
    $mailer->Subject = 'Grüße';
    $mailer->msgHTML('<p>Thank you.</p>');
    $mailer->addStringAttachment(implode('', array_map('chr', range(0, 255))), 'data.bin');
    $GLOBALS['hooks']['phpmailer_init']($mailer);
    $mailer->send();
}

require $argv[1];
send();
try {
    send('shop@other.example');
} catch (Exception $error) {
    echo $error::class, "\n";
}
