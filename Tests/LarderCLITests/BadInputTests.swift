import Foundation
import TestSupport
import Testing

@Suite("Errors of recording commands for missing files, folders and wrong formats")
struct BadInputTests {
    @Test(
        "The error names the file and the reason, and no file is left",
        arguments: [
            ("snapshot show none", 1, "larder: none: open: No such file or directory\n"),
            ("snapshot ls .", 5, "larder: .: not a snapshot: the path is not a regular file\n"),
            ("snapshot verify bad", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("snapshot verify good --signed-by none", 1, "larder: cannot read none: No such file or directory\n"),
            ("snapshot verify good --signed-by .", 1, "larder: cannot read .: Is a directory\n"),
            ("snapshot verify good --signed-by bad", 1, "larder: bad: the key cannot be used: "),
            ("snapshot verify cut", 5, "larder: cut: "),
            ("snapshot sign good --sign-with bad", 1, "larder: bad: the key cannot be used: "),
            ("snapshot diff good bad", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("snapshot merge good bad -o new", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("snapshot gc bad", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("snapshot export bad --text new", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("snapshot create --from-partial -o new", 1, "larder: new.partial does not exist"),
            ("snapshot create --from-text none -o new", 1, "larder: none/manifest.json: open: No such file or directory\n"),
            ("har export bad", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            ("har import none -o new --key key", 1, "larder: cannot read none: No such file or directory\n"),
            ("har import . -o new --key key", 1, "larder: cannot read .: Is a directory\n"),
            ("har import bad -o new --key good.key", 1, "larder: bad: malformed: not HAR"),
            ("lock verify good.lock bad", 5, "larder: bad: not a snapshot: the file is not an SQLite file\n"),
            (
                "explain --replay --layer good --layer bad http://a.example/y", 5,
                "larder: bad: not a snapshot: the file is not an SQLite file\n"
            ),
            ("replay none -- true", 125, "larder: error: replay.layers: $HOME/none: open: No such file or directory\n"),
            (
                "replay bad -- true", 125,
                "larder: error: replay.layers: $HOME/bad: not a snapshot: the file is not an SQLite file\n"
            ),
            ("replay --clock freeze none -- true", 125, "larder: none: open: No such file or directory\n"),
            (
                "replay --signed-by none good -- true", 125,
                "larder: error: replay.signed_by: cannot read $HOME/none: No such file or directory\n"
            ),
            (
                "record --match none -o new -- true", 125,
                "larder: error: record.match: cannot read $HOME/none: No such file or directory\n"
            ),
            (
                "record --match bad -o new -- true", 125,
                "larder: error: record.match: $HOME/bad:1:2: JSON does not allow this byte here"
            ),
            (
                "record --overwrite -o bad -- true", 125,
                "larder: error: record.file: $HOME/bad is not a recording of Larder, so Larder does not replace it; choose another file\n"
            ),
            ("snapshot merge good -o bad", 1, "larder: bad is not a recording of Larder, so Larder does not replace it"),
            (
                "record -o mine -- true", 125,
                "larder: error: record.file: $HOME/mine.partial-wal is not a file of a recording, but Larder needs this name; rename"
            ),
            (
                "record --resume -o other -- true", 125,
                "larder: error: record.file: not a snapshot: $HOME/other.partial is not an unfinished recording\n"
            ),
            (
                "run --store . -- true", 125,
                "larder: error: cannot open the store: $HOME: this is a folder, and a store needs a regular file; set another path"
            ),
            (
                "run --store /dev/null -- true", 125,
                "larder: error: cannot open the store: /dev/null: this is a device, and a store needs a regular file; set another path"
            ),
            (
                "run --store bad/store -- true", 125,
                "larder: error: cannot open the store: $HOME/bad: this is not a folder, so no store can be in it; set another path"
            ),
            (
                "run --store /proc/store -- true", 125,
                "larder: error: cannot open the store: /proc/store: cannot create files in the folder /proc: "
            ),
            (
                "record -o none/new -- true", 125,
                "larder: error: record.file: $HOME/none/new.partial: open: No such file or directory\n"
            ),
        ] as [(String, Int32, String)])
    func namesTheFile(words: String, code: Int32, sentence: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(SnapshotCommandTests.har("one"), to: "one.har")
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; echo text > bad; echo text > mine.partial-wal; echo text > other.partial
            $larder har import one.har -o good --key good.key > /dev/null 2>&1
            head -c 5000 good > cut; $larder lock write good > good.lock
            ls > ../before.$$; $larder \(words); code=$?
            ls | diff - ../before.$$; rm ../before.$$; exit $code
            """, ["HOME": folder.path, "TMPDIR": folder.path])
        #expect(outcome.code == code && outcome.output.isEmpty, "\(outcome)")
        let said = sentence.replacing("$HOME", with: folder.path)
        #expect(outcome.talk.hasPrefix(said), "\(outcome.talk)")
    }

    @Test("The summaries contain everything that --strict counts: requests denied or failed during recording")
    func tellsWhatIsStrict() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; echo 'rules: [{name: not this, match: {path: "/no"}, deny: {reason: no}}]' > policy.yaml
            $larder record --strict --policy policy.yaml -o a.larder -- curl -sS -o x $url/a -o x $url/no; echo $?
            $larder record --strict -o b.larder -- sh -c 'curl -s -o x http://127.0.0.1:1/; true'; echo $?
            $larder replay --strict b.larder -- sh -c 'curl -s -o x http://127.0.0.1:1/; true'; echo $?
            $larder run --strict --policy policy.yaml -- curl -sS -o x $url/no; echo $?
            $larder run --strict --set limits.fields=2 -- sh -c 'curl -s -o x $url/; true'; echo $?
            $larder run --strict -- sh -c 'curl -s -o x -H "Host: a b" $url/; true'; echo $?
            $larder run --summary --set limits.fields=2 -- sh -c 'curl -s -o x $url/; true'; echo $?
            $larder record --strict --set limits.fields=2 -o c.larder -- sh -c 'curl -s -o x $url/; true'; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "4\n0\n4\n4\n4\n4\n0\n4\n", "\(outcome)")
        for said in [
            "larder: 1 recorded in \(folder.path)/a.larder, 1 denied\n",
            "larder:   not recorded, because the request was denied (not this): GET http://127.0.0.1:\(origin.port)/no\n",
            "larder: 1 recorded in \(folder.path)/b.larder, 1 of them failures\n",
            "larder: 0 recorded in \(folder.path)/c.larder\n",
            "larder:   not recorded, because Larder did not accept the request (request_fields_too_large)\n",
            "larder: 0 denied, 0 missed, 1 not accepted (--strict); to list these requests, use --summary\n",
            "larder:   not accepted (request_fields_too_large)\n",
            "larder: 0 replayed, 0 missed, 0 not requested, 1 failed\n",
            "larder:   failed (connection_refused): GET http://127.0.0.1:1/\n",
            "larder: 1 denied, 0 missed (--strict); to list these requests, use --summary\n",
        ] {
            #expect(outcome.talk.contains(said), "\(said) in \(outcome.talk)")
        }
    }
}
