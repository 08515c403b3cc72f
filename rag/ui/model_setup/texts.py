"""The strings of setting up a chat model, in Chinese and English."""

from dataclasses import dataclass

from rag.ui.texts import Language


@dataclass(frozen=True, slots=True)
class ModelSetupTexts:
    """`{…}` are filled with `str.format`; both languages use the same ones."""

    heading: str
    intro: str
    nothing: str
    in_use: str
    with_key: str
    without_key: str
    fixed: str
    writer_fixed: str
    preset: str
    preset_other: str
    url: str
    key: str
    key_hint: str
    key_kept: str
    key_needed: str
    plain_http: str
    look: str
    looking: str
    found: str
    found_none: str
    look_failed: str
    model: str
    model_hint: str
    try_it: str
    trying: str
    works: str
    failed: str
    details: str
    use: str
    used: str
    forget_key: str
    key_forgotten: str
    forget: str
    forgotten: str
    not_kept: str
    address_first: str
    model_first: str
    key_bad: str
    local: str
    local_about: str
    local_missing: str
    local_interrupted: str
    local_present: str
    local_running: str
    local_cancelling: str
    local_problem: str
    local_package: str
    local_space: str
    download: str
    resume: str
    cancel: str


TEXTS = {
    Language.ZH: ModelSetupTexts(
        heading="设置一个模型",
        intro="选一个服务，填上密钥，测试通过就能用。对所有使用这台服务器的人立即生效，不需要重启。",
        nothing="还没有设置接口。",
        in_use="已设置：{host} 的 {model}，{key}。问题和引用的资料会发送到那里。",
        with_key="密钥保存在服务器上，不再显示",
        without_key="没有密钥",
        fixed="接口由 {where} 设定，它优先于这里；要在页面上设置，请先去掉那里的设定。",
        writer_fixed="默认由谁撰写由 {where} 设定；这里设置的接口，读者可以在上面自己选用。",
        preset="服务",
        preset_other="其他（兼容 OpenAI 的接口）",
        url="接口地址",
        key="密钥",
        key_hint="只发给上面的地址，保存在服务器上只有程序所有者能读的文件里。本机的服务一般不需要。",
        key_kept="已保存；要更换就输入新的",
        key_needed="没有保存",
        plain_http="注意：http:// 不加密，密钥和问题在网络上是明文。",
        look="查找模型",
        looking="正在查找…",
        found="找到 {count} 个模型，请在下面选一个。",
        found_none="地址可用，但没有列出模型，请直接填写模型名。",
        look_failed="没有取到模型列表：{problem}地址没错的话，也可以直接填写模型名。",
        model="模型",
        model_hint="从列表里选，或直接填写",
        try_it="测试",
        trying="正在测试…",
        works="正常：{model} 在 {seconds} 秒后回答了。",
        failed="没有成功：{problem}",
        details="细节",
        use="使用",
        used="已经在用：从下一个问题起由 {model} 撰写。",
        forget_key="删除密钥",
        key_forgotten="密钥已经删除。",
        forget="不再使用",
        forgotten="已经删除接口和密钥。",
        not_kept="没有保存：{problem}",
        address_first="地址不对：要以 http:// 或 https:// 开头，不带用户名、密码和参数，例如 https://api.example.com/v1。",
        model_first="请先选一个模型，或填写模型名。",
        key_bad="密钥里有空格或其他不该有的字符，请重新复制。",
        local="本机模型",
        local_about="{name}：下载 {size}，许可 {licence}。在这台机器上运行，问题不会离开这里；答案不如大模型写得好。",
        local_missing="还没有下载。",
        local_interrupted="已经下载 {done} / {total}，可以从这里继续。",
        local_present="已经下载，并核对过 SHA-256。",
        local_running="正在下载：{done} / {total}",
        local_cancelling="正在停止…",
        local_problem="下载没有完成：{problem}",
        local_package="运行它还缺一个软件包。请在程序所在的环境里运行：{command}",
        local_space="磁盘空间不够，还差 {space}。请腾出空间，或用设置 models 换一个文件夹。",
        download="下载（{size}）",
        resume="继续下载",
        cancel="停止下载",
    ),
    Language.EN: ModelSetupTexts(
        heading="Set up a model",
        intro="Choose a service, enter the key, test it, use it. It counts at once, without a restart, for everybody "
        "who uses this server.",
        nothing="No endpoint is set up.",
        in_use="Set up: {model} at {host}, {key}. Questions and quoted material are sent there.",
        with_key="with a key that is kept on the server and not shown again",
        without_key="without a key",
        fixed="The endpoint is set by {where}, which wins over this page; take it out there to set one up here.",
        writer_fixed="Who writes by default is set by {where}; what is set up here, readers can choose for themselves, "
        "above.",
        preset="Service",
        preset_other="Other (any OpenAI-compatible endpoint)",
        url="Address of the endpoint",
        key="Key",
        key_hint="Sent to this address only, and kept on the server in a file that only the program's owner can read. "
        "Services on this machine usually need none.",
        key_kept="kept; type a new one to replace it",
        key_needed="none is kept",
        plain_http="Note: http:// is not encrypted; key and questions can be read on their way.",
        look="Look for models",
        looking="Looking…",
        found="{count} models found: choose one below.",
        found_none="The address works but lists no models: type the model's name.",
        look_failed="No list of models: {problem} If the address is right, you can also type the model's name.",
        model="Model",
        model_hint="Choose from the list, or type its name",
        try_it="Test",
        trying="Testing…",
        works="It works: {model} answered after {seconds} seconds.",
        failed="It failed: {problem}",
        details="Details",
        use="Use",
        used="In use: {model} writes from the next question on.",
        forget_key="Delete the key",
        key_forgotten="The key was deleted.",
        forget="Stop using it",
        forgotten="Endpoint and key were deleted.",
        not_kept="Not kept: {problem}",
        address_first="Not an address: it begins with http:// or https:// and has no user, password or query, such as "
        "https://api.example.com/v1.",
        model_first="Choose a model first, or type its name.",
        key_bad="The key has spaces or other signs that a key cannot have: copy it again.",
        local="A model on this machine",
        local_about="{name}: {size} to download, licence {licence}. It runs on this machine, so no question leaves it. "
        "It writes less well than large models.",
        local_missing="Not downloaded yet.",
        local_interrupted="{done} of {total} are here; the download can go on from there.",
        local_present="Downloaded, and its SHA-256 was checked.",
        local_running="Downloading: {done} of {total}",
        local_cancelling="Stopping…",
        local_problem="The download did not finish: {problem}",
        local_package="A package that runs it is missing. Run in the program's environment: {command}",
        local_space="The disk lacks {space}. Free some, or name another folder with the setting `models`.",
        download="Download ({size})",
        resume="Go on downloading",
        cancel="Stop",
    ),
}
