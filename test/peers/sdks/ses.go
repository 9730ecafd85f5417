// Amazon's SDK for Go, unchanged, at the server that MAIL_URL names. Prints as JSON what it saw.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"
)

var ctx = context.Background()

func client(secret string) *sesv2.Client {
	return sesv2.New(sesv2.Options{
		Region:           "eu-central-1",
		EndpointResolver: sesv2.EndpointResolverFromURL(os.Getenv("MAIL_URL")),
		Credentials:      credentials.NewStaticCredentialsProvider(os.Getenv("AWS_ACCESS_KEY_ID"), secret, ""),
		Retryer:          aws.NopRetryer{},
	})
}

// The type that an application asks for with errors.As, and the code.
func met(err error) []string {
	var notFound *types.NotFoundException
	var bad *types.BadRequestException
	var rejected *types.MessageRejected
	var answer smithy.APIError
	switch {
	case errors.As(err, &notFound):
		return []string{"NotFoundException", notFound.ErrorCode()}
	case errors.As(err, &bad):
		return []string{"BadRequestException", bad.ErrorCode()}
	case errors.As(err, &rejected):
		return []string{"MessageRejected", rejected.ErrorCode()}
	case errors.As(err, &answer):
		return []string{"APIError", answer.ErrorCode()}
	default:
		return nil
	}
}

func main() {
	ses := client(os.Getenv("AWS_SECRET_ACCESS_KEY"))
	email := func(from string, to ...string) *sesv2.SendEmailInput {
		text := func(data string) *types.Content { return &types.Content{Data: aws.String(data)} }
		return &sesv2.SendEmailInput{
			FromEmailAddress: aws.String(from),
			Destination:      &types.Destination{ToAddresses: to},
			Content: &types.EmailContent{Simple: &types.Message{
				Subject: text("Grüße"), Body: &types.Body{Text: text("Hi."), Html: text("<p>Hi.</p>")},
			}},
		}
	}
	raw := strings.Join([]string{
		"From: Jane <jane@example.com>", "To: bob@example.org", "Subject: Hi", "MIME-Version: 1.0",
		"Content-Type: multipart/mixed; boundary=b", "", "--b", "", "Hi.", "--b",
		"Content-Type: application/octet-stream", "Content-Disposition: attachment; filename=data.bin",
		"Content-Transfer-Encoding: base64", "", "AAECAwQF", "--b--", "",
	}, "\r\n")
	simple, err := ses.SendEmail(ctx, email("Jane <jane@example.com>", "bob@example.org"))
	if err != nil {
		log.Fatal(err)
	}
	whole, err := ses.SendEmail(ctx, &sesv2.SendEmailInput{
		Content: &types.EmailContent{Raw: &types.RawMessage{Data: []byte(raw)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	account, err := ses.GetAccount(ctx, &sesv2.GetAccountInput{})
	if err != nil {
		log.Fatal(err)
	}
	_, unknown := ses.GetSuppressedDestination(ctx, &sesv2.GetSuppressedDestinationInput{
		EmailAddress: aws.String("ann@example.org"),
	})
	_, other := ses.SendEmail(ctx, email("a@other.example", "bob@example.org"))
	_, nobody := ses.SendEmail(ctx, email("jane@example.com"))
	_, wrong := client("wrong").GetAccount(ctx, &sesv2.GetAccountInput{})
	seen := map[string]any{
		"sent":    []*string{whole.MessageId, simple.MessageId},
		"enabled": account.SendingEnabled,
		"errors": map[string][]string{
			"unknown address": met(unknown), "another domain": met(other),
			"no recipient": met(nobody), "wrong secret": met(wrong),
		},
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		log.Fatal(err)
	}
}
