import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** The application of docs/testing.md: who signs up is sent a code. */
class Shop {
  static void signUp(String email, String box) throws Exception {
    String message = """
        {"from": "Shop <shop@example.com>", "to": ["%s"], "box": "%s",
         "subject": "Your code", "text": "Your code is 135790."}""".formatted(email, box);
    var request = HttpRequest.newBuilder(URI.create(System.getenv("WAYBILL_URL") + "/api/v1/messages"))
        .header("Authorization", "Bearer " + System.getenv("WAYBILL_TEST_KEY"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(message));
    var answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() != 202) throw new IllegalStateException(answer.body());
  }
}
