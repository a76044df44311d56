import java.net.*;
import java.net.http.*;
import java.nio.file.*;

public class Fetch {
    public static void main(String[] a) throws Exception {
        HttpClient c = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[2])))).build();
        HttpResponse<byte[]> r;
        try {
            r = c.send(HttpRequest.newBuilder(URI.create(a[0])).build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (java.io.IOException e) {
            System.err.println(e);
            System.exit(1);
            return;
        }
        if (r.statusCode() != 200) throw new Exception("status " + r.statusCode());
        Files.write(Path.of(a[1]), r.body());
    }
}
