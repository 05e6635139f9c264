"""The target `uninstall`: uninstall_test.py CMAKE SOURCE BUILD.

Broken by an installed file that stays, a file of somebody else that is removed, or an empty folder of Sennit that stays.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE, BUILD = sys.argv[1:4]


def everything(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, folders, files in os.walk(folder) for name in folders + files)


class Uninstall(unittest.TestCase):
    def install(self, folder, destination):
        """Installs two components and keeps the list in a separate tree: other tests overwrite the list of BUILD."""
        environment = {**os.environ, "DESTDIR": destination}
        tree = os.path.join(folder, "tree")
        os.mkdir(tree)
        for component in ("development", "documents"):
            done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", "/opt/x", "--component", component],
                                  env=environment, capture_output=True, text=True, timeout=100, check=True)
            files = [name[len(destination):] for name in re.findall(r"^-- (?:Installing|Up-to-date): (.+)$", done.stdout, re.MULTILINE)
                     if os.path.islink(name) or not os.path.isdir(name)]
            with open(os.path.join(tree, f"install_manifest_{component}.txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(files))
        return tree, environment

    def uninstall(self, tree, environment):
        return subprocess.run([CMAKE, f"-DTREE={tree}", "-P", os.path.join(SOURCE, "cmake", "SennitUninstall.cmake")],
                              env=environment, capture_output=True, text=True, timeout=100, check=False)

    def test_what_was_installed_goes_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            destination = os.path.join(folder, "destination")
            tree, environment = self.install(folder, destination)
            include = os.path.join(destination, "opt/x/include")
            self.assertTrue(os.path.exists(os.path.join(include, "sennit/rma.h")))
            foreign = [os.path.join(include, "sennit/of_somebody_else.h"), os.path.join(include, "other.h")]
            for name in foreign:
                open(name, "w", encoding="ascii").close()
            os.remove(os.path.join(include, "sennit/atomic.h"))  # the file was already removed by somebody
            done = self.uninstall(tree, environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            left = everything(os.path.join(destination, "opt/x"))
            files = [name for name in left if not os.path.isdir(os.path.join(destination, "opt/x", name))]
            self.assertEqual(files, ["include/other.h", "include/sennit/of_somebody_else.h"])
            own = [name for name in left if "sennit" in name]
            self.assertEqual(own, ["include/sennit", "include/sennit/of_somebody_else.h"])
            again = self.uninstall(tree, environment)
            self.assertNotEqual(again.returncode, 0)
            self.assertIn("nothing was installed from there", " ".join(again.stderr.split()))

    def test_make_uninstall_uses_the_lists_of_the_release_tree(self):
        done = subprocess.run(["make", "-n", "-C", SOURCE, "uninstall"], capture_output=True, text=True, timeout=100, check=True)
        self.assertIn("cmake -DTREE=build/release -P cmake/SennitUninstall.cmake", done.stdout)

    def test_the_lists_stay_while_there_is_an_installation_without_destdir(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, stage, listed = (os.path.join(folder, name) for name in ("prefix", "stage", "install_manifest.txt"))
            for place in (prefix, stage + prefix):
                os.makedirs(place)
                open(os.path.join(place, "file"), "w", encoding="ascii").close()
            with open(listed, "w", encoding="utf-8") as file:
                file.write(os.path.join(prefix, "file"))
            for destination, place in ((stage, stage + prefix), ("", prefix)):
                done = self.uninstall(folder, {**os.environ, "DESTDIR": destination})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.listdir(place), [])
                self.assertEqual(os.path.exists(listed), bool(destination))

    def test_the_lists_stay_if_destdir_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            stage, listed = (os.path.join(folder, name) for name in ("stage", "install_manifest.txt"))
            installed = os.path.join(stage, "opt", "x", "file")
            os.makedirs(os.path.dirname(installed))
            open(installed, "w", encoding="ascii").close()
            with open(listed, "w", encoding="utf-8") as file:
                file.write("/opt/x/file")
            for destination in ("", os.path.join(folder, "other")):
                done = self.uninstall(folder, {**os.environ, "DESTDIR": destination})
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("set DESTDIR", done.stderr)
                self.assertTrue(os.path.exists(installed) and os.path.exists(listed))
            done = self.uninstall(folder, {**os.environ, "DESTDIR": stage})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(os.path.exists(installed) or os.path.exists(listed))

    def test_the_build_tree_has_the_target(self):
        said = subprocess.run([CMAKE, "--build", BUILD, "--target", "help"], capture_output=True, text=True, timeout=100, check=True)
        self.assertRegex(said.stdout, r"(?m)^(\.\.\. )?uninstall\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
